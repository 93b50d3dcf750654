/** What is said to caches on the way, past `Cache-Control`. */
export const FOR_SHARED_CACHES = ['cdn-cache-control', 'surrogate-control'] as const

/** Of the directives, those that let only the browser itself keep an answer. */
export function keptPrivately(values: readonly string[] = []): string {
  const directives = values.flatMap((value) => value.split(',')).map((directive) => directive.trim())
  return ['private', ...directives.filter((directive) => directive !== '' && !IS_SHARED.test(directive))].join(', ')
}

const IS_SHARED = /^(?:public|private|s-maxage)\b/i
