/** A Markdown table. Cells are Markdown already; only what would end a cell is escaped. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

export const code = (text: string): string => `\`${text}\``

/** What every printed page says about itself. */
export const printedFrom = (source: string): string =>
  `This page is printed from ${source} by \`scripts/print-reference.ts\`. Do not edit it.`
