import { AppError } from '../../kernel/app-error.ts'
import { type Letter, type Mail, MailFailed } from '../../mail/mail.ts'

const NAMES: Readonly<Record<Letter['kind'], string>> = {
  verify: 'verification email',
  reset: 'password reset email',
  invite: 'invitation email',
  'email-changed': 'notice to the old address',
}

/** Sends a letter that a request waits for. Called before anything is written: when it fails, nothing has happened. */
export async function sendLetter(mail: Mail, to: string, letter: Letter): Promise<void> {
  try {
    await mail.send(to, letter)
  } catch (cause) {
    if (!(cause instanceof MailFailed)) throw cause
    throw new AppError('mail_failed', `The ${NAMES[letter.kind]} could not be sent; try again later`, { cause })
  }
}
