const UNITS = 'kmgtp'

/** Bytes in `512m`, `1.5gb` or `1048576`, in powers of 1024; undefined for what is no size above 0. */
export function bytesIn(text: string): number | undefined {
  const parts = /^(\d+(?:\.\d+)?)([kmgtp]?)b?$/i.exec(text.trim())
  if (!parts) return undefined
  const power = UNITS.indexOf((parts[2] ?? '').toLowerCase() || ' ') + 1
  const bytes = Math.floor(Number(parts[1]) * 1024 ** power)
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}
