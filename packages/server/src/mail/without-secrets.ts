const MASK = '***'

/**
 * A link that lets people in, or a sign-in that was echoed, is one long word. Ordinary words of an answer are shorter.
 */
const MAX_WORD_CHARS = 60

/**
 * What a mail server or program said, fit for a log. A refusal may quote the letter with its link ("this URL is on a
 * block list") or the command with its password, so links, long words and the given secrets are masked.
 */
export function withoutSecrets(text: string, secrets: readonly string[] = []): string {
  const masked = secrets.filter(Boolean).reduce((rest, secret) => rest.replaceAll(secret, MASK), text)
  return masked.replace(/\S+/g, (word) => (isTelling(word) ? MASK : word))
}

function isTelling(word: string): boolean {
  return word.length > MAX_WORD_CHARS || word.includes('://') || /token=/i.test(word)
}

/** The error itself when its text is harmless, else one with the same text without what must not be seen. */
export function harmlessCause(error: unknown, secrets: readonly string[] = []): unknown {
  if (!(error instanceof Error)) return new Error(withoutSecrets(String(error), secrets))
  const texts = [error.message, ...Object.values(error).filter((value) => typeof value === 'string')]
  const isHarmless = texts.every((text) => withoutSecrets(text, secrets) === text)
  return isHarmless ? error : new Error(withoutSecrets(error.message, secrets))
}
