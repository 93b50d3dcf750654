import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'

/** Whether people sign in with a password here. */
export const takesPasswords = ({ modes }: Pick<Settings['auth'], 'modes'>): boolean =>
  modes === 'password' || modes === 'both'

export function requirePasswords(auth: Pick<Settings['auth'], 'modes'>, sentence = 'Password login is disabled'): void {
  if (!takesPasswords(auth)) throw new AppError('not_offered', sentence)
}
