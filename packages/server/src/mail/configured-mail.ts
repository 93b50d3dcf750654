import { type Clock, systemClock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { domainOf, senderOf } from './address.ts'
import { renderLetter } from './letters/render-letter.ts'
import { type Letter, type Mail, MailFailed } from './mail.ts'
import type { MailSettings } from './mail-settings.ts'
import type { Mailer } from './mailer.ts'
import { SendmailMailer } from './sendmail/sendmail-mailer.ts'
import { encryptionFor, SmtpMailer, type SmtpTimeouts } from './smtp/smtp-mailer.ts'

/** Writes each letter and sends it the way the settings of that moment say. */
export class ConfiguredMail implements Mail {
  readonly #settings: () => MailSettings
  readonly #log: Logger
  readonly #clock: Clock
  readonly #ca: string | undefined
  readonly #timeouts: SmtpTimeouts | undefined

  /** `ca` and `timeouts` are for tests: a certificate of their own, and less patience. */
  constructor(parts: {
    settings: () => MailSettings
    log: Logger
    clock?: Clock
    ca?: string
    timeouts?: SmtpTimeouts
  }) {
    this.#settings = parts.settings
    this.#log = parts.log
    this.#clock = parts.clock ?? systemClock
    this.#ca = parts.ca
    this.#timeouts = parts.timeouts
  }

  async send(to: string, letter: Letter): Promise<void> {
    // Neither the address nor the link: whoever reads the log could otherwise use them.
    const facts = { kind: letter.kind, recipient_domain: domainOf(to) }
    try {
      await this.#deliver(to, letter)
    } catch (error) {
      const failure = error instanceof MailFailed ? error : new MailFailed('The letter was not sent', { cause: error })
      this.#log.warning('mail was not sent', { ...facts, error: failure })
      throw failure
    }
    this.#log.info('mail sent', facts)
  }

  async #deliver(to: string, letter: Letter): Promise<void> {
    const settings = this.#settings()
    const parts = await renderLetter(letter, { branding: settings, folder: settings.templatesDir, log: this.#log })
    const mailer = this.#mailerFor(settings)
    await mailer.deliver({ from: senderOf(settings), replyTo: settings.smtpReplyTo, to, ...parts })
  }

  #mailerFor({ smtpHost, smtpPort, smtpUseTls, smtpUser, smtpPassword, sendmailPath }: MailSettings): Mailer {
    if (!smtpHost) return new SendmailMailer({ program: sendmailPath, clock: this.#clock })
    return new SmtpMailer({
      server: {
        host: smtpHost,
        port: smtpPort,
        encryption: encryptionFor({ port: smtpPort, useTls: smtpUseTls }),
        // A name alone is only our sender's address; there is no sign-in without a password.
        signIn: smtpUser && smtpPassword ? { user: smtpUser, password: smtpPassword.reveal() } : undefined,
      },
      clock: this.#clock,
      ca: this.#ca,
      ...(this.#timeouts ? { timeouts: this.#timeouts } : {}),
    })
  }
}
