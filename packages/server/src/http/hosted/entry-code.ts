import { HOSTED_ENTRY } from '../../kernel/hosted-address.ts'

const MARK = `${HOSTED_ENTRY}=`

/** Takes the code of a browser that comes in out of an address, and leaves everything else of it as it was. */
export function takeOutEntryCode(path: string): { path: string; code: string | undefined } {
  const question = path.indexOf('?')
  if (question === -1 || !path.includes(MARK, question)) return { path, code: undefined }
  const pairs = path.slice(question + 1).split('&')
  const rest = pairs.filter((pair) => !pair.startsWith(MARK))
  const query = rest.length > 0 ? `?${rest.join('&')}` : ''
  return {
    path: `${path.slice(0, question)}${query}`,
    code: pairs.find((pair) => pair.startsWith(MARK))?.slice(MARK.length),
  }
}

export function withEntryCode(path: string, code: string | undefined): string {
  if (code === undefined) return path
  return `${path}${path.includes('?') ? '&' : '?'}${MARK}${code}`
}
