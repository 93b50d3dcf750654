/** Units of a size, each 1024 times the one before it, as container engines count them. */
export const SIZE_UNITS = 'kmgtp'

/** Bytes in `512m`, `1.5gb` or `1048576`; undefined for what is no size above 0. */
export function bytesIn(text: string): number | undefined {
  const parts = /^(\d+(?:\.\d+)?)([kmgtp]?)b?$/i.exec(text.trim())
  if (!parts) return undefined
  const power = SIZE_UNITS.indexOf((parts[2] ?? '').toLowerCase() || ' ') + 1
  const bytes = Math.floor(Number(parts[1]) * 1024 ** power)
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}
