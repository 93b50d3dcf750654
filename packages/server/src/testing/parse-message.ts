/** A message as a person sees it, and its headers by their lower-case names. */
export interface ParsedMessage {
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
  /** The first web address in the text part. */
  readonly link: string | undefined
}

/** Reads what a mail library writes: headers, encoded words, parts, quoted-printable and base64. No more of MIME. */
export function parseMessage(raw: string): ParsedMessage {
  const { headers } = split(raw)
  const parts = leaves(raw)
  const text = parts.find(({ type }) => type.startsWith('text/plain'))?.body ?? ''
  const html = parts.find(({ type }) => type.startsWith('text/html'))?.body ?? ''
  return { subject: headers.subject ?? '', text, html, headers, link: /https?:\/\/\S+/.exec(text)?.[0] }
}

/** All parts that hold no parts themselves. */
function leaves(raw: string): { type: string; body: string }[] {
  const { headers, body } = split(raw)
  const type = headers['content-type'] ?? 'text/plain'
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1]
  if (boundary === undefined) return [{ type, body: decodeBody(body, headers['content-transfer-encoding']) }]
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .flatMap((part) => leaves(part.replace(/^\r?\n/, '').replace(/\r?\n$/, '')))
}

function split(raw: string): { headers: Record<string, string>; body: string } {
  const [head = '', ...rest] = raw.split(/\r?\n\r?\n/)
  const lines = head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())]
  })
  return { headers: Object.fromEntries(headers), body: rest.join('\n\n') }
}

function decodeBody(body: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return (encoding === 'quoted-printable' ? fromQuotedPrintable(body.replace(/=\r?\n/g, '')) : body).replaceAll(
    '\r\n',
    '\n',
  )
}

/** `=?utf-8?Q?caf=C3=A9?=`; the space between two such words is not part of the text. */
function decodeWords(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(text, 'base64').toString()
        : fromQuotedPrintable(text.replaceAll('_', ' ')),
    )
}

function fromQuotedPrintable(text: string): string {
  return text.replace(/(?:=[0-9A-F]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
}
