/** Not in quotes, not in a path, and not decoded to something else by the browsers that do. */
const UNSAFE = /[^\x20-\x7e]|["\\/%]/gu

/** Tells a browser to save what comes, and under which name (RFC 6266). */
export function attachment(fileName: string): string {
  const plain = fileName.replace(UNSAFE, '_')
  const header = `attachment; filename="${plain}"`
  return plain === fileName ? header : `${header}; filename*=UTF-8''${extended(fileName)}`
}

/** RFC 8187: what `encodeURIComponent` leaves alone, and the header does not. */
const extended = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
