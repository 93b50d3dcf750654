import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import type { Clock } from '../../kernel/clock.ts'
import { compose } from '../compose.ts'
import type { Mailer, OutgoingMessage } from '../mailer.ts'
import { smtpFailure } from './smtp-failure.ts'
import { SmtpSession } from './smtp-session.ts'

/** From its start, after a STARTTLS that the server must offer, or never. There is no "if the server can". */
export type SmtpEncryption = 'implicit' | 'starttls' | 'none'

/** On port 465 the connection is encrypted from its start (RFC 8314), on all others by STARTTLS. */
export function encryptionFor({ port, useTls }: { port: number; useTls: boolean }): SmtpEncryption {
  if (!useTls) return 'none'
  return port === 465 ? 'implicit' : 'starttls'
}

export interface SmtpTimeouts {
  /** Until the server has greeted us and the connection is encrypted; looking its name up counts too. */
  readonly connectMs: number
  /** Until the server says something. */
  readonly silenceMs: number
  /** For the whole conversation, because a server that says a little now and then is never silent. */
  readonly totalMs: number
}

/** A request waits for the letter it sends, so all of it ends before a proxy or a person gives up. */
export const SMTP_TIMEOUTS: SmtpTimeouts = { connectMs: 10_000, silenceMs: 20_000, totalMs: 30_000 }

export interface SmtpServer {
  readonly host: string
  readonly port: number
  readonly encryption: SmtpEncryption
  readonly signIn: { readonly user: string; readonly password: string } | undefined
}

/** Hands each message to one mail server, over a connection of its own. */
export class SmtpMailer implements Mailer {
  readonly #server: SmtpServer
  readonly #clock: Clock
  readonly #timeouts: SmtpTimeouts
  readonly #ca: string | undefined

  /** `ca`: certificates to trust in place of the usual ones, in PEM. */
  constructor(parts: { server: SmtpServer; clock: Clock; timeouts?: SmtpTimeouts; ca?: string | undefined }) {
    this.#server = parts.server
    this.#clock = parts.clock
    this.#timeouts = parts.timeouts ?? SMTP_TIMEOUTS
    this.#ca = parts.ca
  }

  async deliver(message: OutgoingMessage): Promise<void> {
    const composed = await compose(message, 'crlf')
    const { signIn } = this.#server
    // Loaded at the first letter: a server that sends none should not carry it in memory.
    const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection')
    const session = new SmtpSession(new SMTPConnection(this.#connectionOptions()))
    const cancel = this.#clock.after(this.#timeouts.totalMs, () => session.giveUp())
    try {
      await session.connect()
      if (signIn) await session.signIn(signIn)
      await session.send(composed)
    } catch (error) {
      throw smtpFailure(error, signIn)
    } finally {
      cancel()
      session.close()
    }
  }

  #connectionOptions(): SMTPConnectionOptions {
    const { host, port, encryption } = this.#server
    const { connectMs, silenceMs } = this.#timeouts
    return {
      host,
      port,
      secure: encryption === 'implicit',
      requireTLS: encryption === 'starttls',
      ignoreTLS: encryption === 'none',
      tls: { rejectUnauthorized: true, ...(this.#ca === undefined ? {} : { ca: this.#ca }) },
      connectionTimeout: connectMs,
      dnsTimeout: connectMs,
      greetingTimeout: connectMs,
      socketTimeout: silenceMs,
    }
  }
}
