/** What mail needs to know of the settings, as they are at the moment of a letter. */
export interface MailSettings {
  /** Without it the program at `sendmailPath` is used. */
  readonly smtpHost: string | undefined
  readonly smtpPort: number
  readonly smtpUseTls: boolean
  readonly smtpUser: string | undefined
  /** Stays closed until the moment of the sign-in, so that nothing on the way can print it. */
  readonly smtpPassword: { reveal(): string } | undefined
  readonly smtpFrom: string | undefined
  readonly smtpReplyTo: string | undefined
  readonly sendmailPath: string
  /** The folder of the operator's own texts; it need not exist. */
  readonly templatesDir: string | undefined
  /** Host of this service, with or without a port. */
  readonly hostingHostname: string | undefined
  readonly hostingProto: 'http' | 'https' | undefined
  readonly productName: string
  /** `#rgb` or `#rrggbb`. */
  readonly brandColor: string
  /** A whole URL, or a path on this service. */
  readonly logoUrl: string | undefined
  readonly termsUrl: string | undefined
  readonly privacyUrl: string | undefined
  readonly aupUrl: string | undefined
  readonly supportUrl: string | undefined
  readonly supportEmail: string | undefined
}
