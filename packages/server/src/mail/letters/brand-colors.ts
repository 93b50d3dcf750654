/** Black or white, whichever is easier to read on a colour given as `#rgb` or `#rrggbb`. */
export function readableOn(color: string): '#000000' | '#ffffff' {
  const luminance = luminanceOf(color)
  // The contrast ratio of WCAG 2: (lighter + 0.05) / (darker + 0.05).
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff'
}

/** Relative luminance by WCAG 2: 0 for black, 1 for white. */
function luminanceOf(color: string): number {
  const digits = color.slice(1)
  const pairs = digits.length === 3 ? [...digits].map((digit) => digit + digit) : (digits.match(/../g) ?? [])
  const [red = 0, green = 0, blue = 0] = pairs.map((pair) => linear(Number.parseInt(pair, 16) / 255))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
}
