import { isIP } from 'node:net'
import type { MailSettings } from './mail-settings.ts'

/** One address and nothing else: no name, no list, no comment, nothing that a header or an envelope could read twice. */
const PLAIN_ADDRESS = /^[^\s\p{Cc}@<>()[\]\\,;:"]+@[^\s\p{Cc}@<>()[\]\\,;:"]+$/u

export function isPlainAddress(text: string): boolean {
  return PLAIN_ADDRESS.test(text)
}

/** The part of an address that a log may show. */
export function domainOf(address: string): string | undefined {
  return isPlainAddress(address) ? address.slice(address.lastIndexOf('@') + 1) : undefined
}

/** `ada@example.org` or `Ada Lovelace <ada@example.org>`, taken apart; undefined when it is neither. */
export function parseMailbox(text: string): { name: string; address: string } | undefined {
  const [, name = '', inBrackets] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? []
  const address = (inBrackets ?? text).trim()
  return isPlainAddress(address) ? { name: name.trim().replace(/^"(.*)"$/, '$1'), address } : undefined
}

type SenderSettings = Pick<MailSettings, 'smtpFrom' | 'smtpUser' | 'hostingHostname'>

/** Who our mail comes from: what is set, else the account we sign in with, else nobody. */
export function senderOf({ smtpFrom, smtpUser, hostingHostname }: SenderSettings): string {
  if (smtpFrom) return smtpFrom
  if (smtpUser && isPlainAddress(smtpUser)) return smtpUser
  return `noreply@${hostNameOf(hostingHostname) ?? 'localhost'}`
}

/** An IP address is no host name: mail servers refuse it as a domain. */
function hostNameOf(authority: string | undefined): string | undefined {
  const host = authority?.replace(/:\d+$/, '')
  return host && !host.startsWith('[') && isIP(host) === 0 ? host : undefined
}
