/** One message to one person. */
export interface OutgoingMessage {
  /** An address, or a name with an address in angle brackets. */
  readonly from: string
  readonly replyTo: string | undefined
  /** A plain address. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** A way out for mail. Drivers translate; they never decide. */
export interface Mailer {
  /** Resolves once the message was taken, rejects with `MailFailed` otherwise. Never waits longer than its limit. */
  deliver(message: OutgoingMessage): Promise<void>
}
