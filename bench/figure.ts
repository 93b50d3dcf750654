/** One line of the performance table. */
export interface Figure {
  readonly work: string
  readonly measured: string
  readonly baseline: string
  readonly ratio: number
  readonly budget: { readonly at: 'least' | 'most'; readonly ratio: number }
}

export const isKept = ({ ratio, budget }: Figure): boolean =>
  budget.at === 'least' ? ratio >= budget.ratio : ratio <= budget.ratio

export function printTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.work,
    figure.measured,
    figure.baseline,
    figure.ratio.toFixed(2),
    `${figure.budget.at === 'least' ? '≥' : '≤'} ${figure.budget.ratio}`,
    isKept(figure) ? 'kept' : 'BROKEN',
  ])
  const lines = [['work', 'measured', 'baseline', 'ratio', 'budget', ''], ...rows]
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
