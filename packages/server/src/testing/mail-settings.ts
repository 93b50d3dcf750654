import type { MailSettings } from '../mail/mail-settings.ts'

/** Mail settings as an operator who has set nothing would have them. */
export const mailDefaults: MailSettings = {
  smtpHost: undefined,
  smtpPort: 587,
  smtpUseTls: true,
  smtpUser: undefined,
  smtpPassword: undefined,
  smtpFrom: undefined,
  smtpReplyTo: undefined,
  sendmailPath: 'sendmail',
  templatesDir: undefined,
  hostingHostname: undefined,
  hostingProto: undefined,
  productName: 'svc',
  brandColor: '#E65100',
  logoUrl: undefined,
  termsUrl: undefined,
  privacyUrl: undefined,
  aupUrl: undefined,
  supportUrl: undefined,
  supportEmail: undefined,
}
