import { AppError } from '../../kernel/app-error.ts'

/** The longest address mail can be sent to, by RFC 5321. */
const MAX_LENGTH = 254

/** Nothing a mail header or an address list gives a meaning of its own, no white space, nothing invisible. */
const LOCAL_PART = /^[^\s"(),:;<>@[\\\]\p{C}]+$/u
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?$/u

/** The one spelling under which an address is kept and compared; undefined when it is none. */
export function parseEmail(text: string): string | undefined {
  const address = text.trim().toLowerCase()
  const at = address.lastIndexOf('@')
  const labels = address.slice(at + 1).split('.')
  const fits =
    address.length <= MAX_LENGTH &&
    LOCAL_PART.test(address.slice(0, Math.max(at, 0))) &&
    labels.length > 1 &&
    labels.every((label) => DOMAIN_LABEL.test(label))
  return fits ? address : undefined
}

export function requireEmail(text: string): string {
  const address = parseEmail(text)
  if (address === undefined) throw new AppError('bad_request', 'Must be a valid email address')
  return address
}
