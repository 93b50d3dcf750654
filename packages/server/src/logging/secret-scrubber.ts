import type { Scrub } from './log-record.ts'

const MASK = '***'

/** Shorter values appear in ordinary text by chance; masking them would make the log unreadable. */
const MIN_SECRET_CHARS = 6

/**
 * One cheap look that lets almost every line pass: each pattern below needs one of these.
 * A plain access line is read once and returned as it came.
 */
const SUSPICIOUS = /eyJ|[?&#;]|%3f|%26|bearer|basic|token|secret|passw|passphrase|dpop|api.?key|PRIVATE KEY|:\/\//i

// All of these are linear in the length of the line: a pattern that starts also consumes what it has looked at.
// They never take a bare quote or half an escape sequence, so finished JSON stays JSON.

/** Everything that continues a token, to be judged by `JWT_PARTS`. */
const JWT_RUN = /eyJ[\w.-]*/g
const JWT_PARTS = /^[\w-]+\.[\w-]+\./
const BEARER = /(bearer(?:\s|%20|\+)+)[\w.~+/=-]{6,}/gi
const BASIC = /(basic(?:\s|%20|\+)+)([\w+/-]{4,}={0,2})/gi
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:[^"\\]|\\.)*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|(?="|\\?$))/gs
const URL_PASSWORD = /(:\/\/[^\s/?#@:"\\]*:)[^\s/?#"\\]*@/g
/**
 * `name=value` in a query, a fragment, a form or a field of a text line, and `"name":"value"` in JSON, also when
 * that JSON is itself a string. `code` and `state` are everyday words: they count only as a URL parameter.
 */
const NAMED =
  /(token|secret|passw(?:or)?d|passphrase|dpop|api[_-]?key|(?:[?&#;]|%3f|%26)(?:code|state))(?:(\\"\s*:\s*\\"|=\\")(?:[^"\\]|\\[^"])*|("\s*:\s*"|="(?![,}:]))(?:[^"\\]|\\.)*|(=|%3d)(?:'[^'"\\]*'|[^\s&"#<>\\]+))/gi

/** Masks credentials by their shape, and by value those that `secrets` lists at the time of the call. */
export function secretScrubber(secrets: () => readonly string[]): Scrub {
  let known: readonly string[] = []
  let exact: RegExp | undefined

  return (text) => {
    const current = secrets()
    if (!sameItems(current, known)) {
      known = [...current]
      exact = exactPattern(known)
    }
    const shaped = SUSPICIOUS.test(text) ? maskShapes(text) : text
    return exact ? shaped.replace(exact, MASK) : shaped
  }
}

function maskShapes(text: string): string {
  return text
    .replace(PRIVATE_KEY, MASK)
    .replace(JWT_RUN, (run) => (JWT_PARTS.test(run) ? MASK : run))
    .replace(BEARER, `$1${MASK}`)
    .replace(BASIC, (match, scheme, value) => (isUserAndPassword(value) ? scheme + MASK : match))
    .replace(NAMED, `$1$2$3$4${MASK}`)
    .replace(URL_PASSWORD, `$1${MASK}@`)
}

/** Tells a credential from prose such as "basic authentication". */
function isUserAndPassword(base64: string): boolean {
  return Buffer.from(base64, 'base64').includes(':')
}

function exactPattern(secrets: readonly string[]): RegExp | undefined {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_CHARS) continue
    forms.add(secret)
    forms.add(JSON.stringify(secret).slice(1, -1))
    forms.add(encodeURIComponent(secret.toWellFormed()))
  }
  if (forms.size === 0) return undefined
  // The longest first: where one secret begins with another, the whole of it goes.
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g')
}

function sameItems(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}
