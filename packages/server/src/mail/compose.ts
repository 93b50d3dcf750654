import { isPlainAddress, parseMailbox } from './address.ts'
import { MailFailed } from './mail.ts'
import type { OutgoingMessage } from './mailer.ts'

export interface ComposedMessage {
  readonly envelope: { readonly from: string; readonly to: string }
  readonly bytes: Buffer
}

/** Line ends: SMTP wants CRLF, a local mail program those of the system. */
export type LineEnds = 'crlf' | 'lf'

/** The message as it is sent. Refused before anything is sent when a header could be read as two. */
export async function compose(message: OutgoingMessage, lineEnds: LineEnds): Promise<ComposedMessage> {
  refuseBrokenHeaders(message)
  const { to, subject, text, html } = message
  const from = requireMailbox('sender', message.from)
  // Loaded at the first letter: a server that sends none should not carry it in memory.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const compiled = new MailComposer({
    // Addresses are given taken apart, so that the library reads nothing in them as a second address.
    from,
    ...(message.replyTo ? { replyTo: requireMailbox('reply address', message.replyTo) } : {}),
    to: { name: '', address: to },
    subject,
    text,
    html,
    // No auto-reply, no "out of office" and no list should ever answer us.
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: lineEnds === 'crlf' ? 'win' : 'linux',
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  // The library's envelope, because it writes international domains the way every server understands.
  const envelope = compiled.getEnvelope()
  return { envelope: { from: envelope.from || from.address, to: envelope.to[0] ?? to }, bytes: await compiled.build() }
}

function requireMailbox(what: string, text: string): { name: string; address: string } {
  const mailbox = parseMailbox(text)
  if (!mailbox) throw new MailFailed(`The ${what} of our mail is not an address`)
  return mailbox
}

function refuseBrokenHeaders({ from, replyTo, to, subject }: OutgoingMessage): void {
  const headers = { sender: from, 'reply address': replyTo ?? '', recipient: to, subject }
  for (const [name, value] of Object.entries(headers)) {
    if (/\p{Cc}/u.test(value)) throw new MailFailed(`The ${name} has a line break or another control character`)
  }
  if (!isPlainAddress(to)) throw new MailFailed('The recipient is not a plain mail address')
}
