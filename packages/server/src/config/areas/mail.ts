import { boolean, host, path, port, secret, text } from '../builders.ts'
import { parseLine } from '../formats.ts'

/** Longest line a mail header may have, by RFC 5322. A line break in one would start another header. */
const HEADER_LENGTH = 998
const header = (value: string) => parseLine(value, HEADER_LENGTH)

export const mailRows = {
  smtpHost: host({
    env: 'SVCD_SMTP_HOST',
    unset: 'unset: sendmail is used',
    reload: 'live',
    doc: 'Mail server that takes our mail.',
  }),
  smtpPort: port({
    env: 'SVCD_SMTP_PORT',
    default: 587,
    reload: 'live',
    doc: 'Port of the mail server. On 465 the connection is encrypted from its start.',
  }),
  smtpUseTls: boolean({
    env: 'SVCD_SMTP_USE_TLS',
    default: true,
    reload: 'live',
    doc: 'Encrypts the connection to the mail server.',
  }),
  smtpUser: text({
    env: 'SVCD_SMTP_USER',
    reload: 'live',
    doc: 'Name to sign in to the mail server with.',
  }),
  smtpPassword: secret({
    env: 'SVCD_SMTP_PASSWORD',
    reload: 'live',
    doc: 'Password to sign in to the mail server with.',
  }),
  smtpFrom: text({
    env: 'SVCD_SMTP_FROM',
    type: 'mail address',
    parse: header,
    unset: 'SVCD_SMTP_USER, else a no-reply address',
    reload: 'live',
    doc: 'Sender of our mail.',
  }),
  smtpReplyTo: text({
    env: 'SVCD_SMTP_REPLY_TO',
    type: 'mail address',
    parse: header,
    reload: 'live',
    doc: 'Address answers to our mail go to.',
  }),
  sendmailPath: text({
    env: 'SVCD_SENDMAIL_PATH',
    type: 'command name or path',
    default: 'sendmail',
    reload: 'live',
    doc: 'Program that takes our mail when no mail server is set.',
  }),
  templatesDir: path({
    env: 'SVCD_EMAIL_TEMPLATES_DIR',
    unset: '<customize_dir>/email-templates',
    reload: 'live',
    doc: 'Directory of your own mail texts. Deprecated: use the email-templates folder of SVCD_CUSTOMIZE_DIR.',
  }),
}
