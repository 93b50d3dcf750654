import type { NamedFinding } from './run-checks.ts'

const LEVEL_WIDTH = 'warning'.length

const count = (findings: readonly NamedFinding[], level: NamedFinding['level']): number =>
  findings.filter((finding) => finding.level === level).length

/** For a person at a terminal. */
export function printFindings(findings: readonly NamedFinding[]): string {
  const nameWidth = Math.max(...findings.map(({ name }) => name.length))
  const indent = ' '.repeat(LEVEL_WIDTH + nameWidth + 4)
  const lines = findings.flatMap(({ level, name, text, hint, details = [] }) => [
    `${level.padEnd(LEVEL_WIDTH)}  ${name.padEnd(nameWidth)}  ${text}`,
    ...[...details, ...(hint ? [hint] : [])].map((line) => `${indent}${line}`),
  ])
  const counts = [
    `${count(findings, 'ok')} ok`,
    plural(count(findings, 'warning'), 'warning'),
    plural(count(findings, 'error'), 'error'),
  ]
  return `${lines.join('\n')}\n\n${counts.join(', ')}\n`
}

const plural = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`

/** For programs. */
export function findingsAsJson(findings: readonly NamedFinding[]): string {
  const summary = {
    ok: count(findings, 'ok'),
    warnings: count(findings, 'warning'),
    errors: count(findings, 'error'),
    checks: findings,
  }
  return `${JSON.stringify(summary, null, 2)}\n`
}
