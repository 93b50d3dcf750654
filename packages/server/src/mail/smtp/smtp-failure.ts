import { MailFailed } from '../mail.ts'
import { harmlessCause } from '../without-secrets.ts'

/** What the library's error codes mean to an operator. */
const SENTENCES: ReadonlyMap<unknown, string> = new Map([
  ['ETIMEDOUT', 'The mail server did not answer in time'],
  ['EDNS', 'The name of the mail server is not known'],
  ['ETLS', 'There is no trusted, encrypted connection to the mail server'],
  ['EAUTH', 'The mail server refused our sign-in'],
  ['EENVELOPE', 'The mail server refused the sender or the recipient'],
  ['EMESSAGE', 'The mail server refused the letter'],
  ['ESOCKET', 'The mail server cannot be reached'],
  ['ECONNECTION', 'The mail server closed the connection'],
  ['EPROTOCOL', 'The mail server gave an answer that makes no sense'],
])

export function smtpFailure(error: unknown, signIn: { user: string; password: string } | undefined): MailFailed {
  if (error instanceof MailFailed) return error
  const sentence = isCertificateProblem(error) ? SENTENCES.get('ETLS') : SENTENCES.get(property(error, 'code'))
  const status = property(error, 'responseCode')
  const message = sentence ?? 'The letter could not be handed to the mail server'
  return new MailFailed(typeof status === 'number' ? `${message} (${status})` : message, {
    cause: harmlessCause(error, signIn ? secretForms(signIn) : []),
  })
}

/** The forms in which a password goes over the wire: a server may repeat in its refusal what it was sent. */
function secretForms({ user, password }: { user: string; password: string }): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return [password, base64(password), base64(`\0${user}\0${password}`)]
}

/** The library calls these socket errors and keeps Node's own code beside. */
function isCertificateProblem(error: unknown): boolean {
  const code = property(error, 'originalCode') ?? property(error, 'code')
  return typeof code === 'string' && /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_/.test(code)
}

function property(error: unknown, name: string): unknown {
  return error instanceof Error && name in error ? Reflect.get(error, name) : undefined
}
