import type { SettingEntry } from './load-settings.ts'

/** Widths that together, with two spaces between, fill 120 columns. The longest variable has 44 characters. */
const widths = { name: 44, value: 26, source: 12, default: 23, reload: 7 } as const

/** A table of the settings in effect. A value too long for its column stands in full on the next line. */
export function printSettings(entries: readonly SettingEntry[]): string {
  const lines = entries.flatMap((entry) => {
    const fits = entry.value.length <= widths.value
    const source = `${entry.source}${entry.byReference ? '*' : ''}`
    const cells = { ...entry, value: fits ? oneLine(entry.value) : '(below)', source }
    return [line(cells), ...(fits ? [] : [`  ${oneLine(entry.value)}`])]
  })
  const header = line({ name: 'SETTING', value: 'VALUE', source: 'SOURCE', default: 'DEFAULT', reload: 'RELOAD' })
  const byReference = entries.some((entry) => entry.byReference)
  return [header, ...lines, ...(byReference ? ['', '* through a file: or cmd: reference'] : []), ''].join('\n')
}

function line(cells: Readonly<Record<keyof typeof widths, string>>): string {
  return [
    cells.name.padEnd(widths.name),
    cells.value.padEnd(widths.value),
    cells.source.padEnd(widths.source),
    shorten(oneLine(cells.default), widths.default).padEnd(widths.default),
    cells.reload,
  ].join('  ')
}

/** Banners may hold line breaks, which would break the table. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => JSON.stringify(character).slice(1, -1))
}

function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}
