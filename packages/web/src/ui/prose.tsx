import { Code } from '@mantine/core'

/** Plain text in which `words between backticks` are code. */
export function Prose({ text }: { text: string }) {
  return text.split('`').map((part, position) => {
    // Every second part stood between backticks.
    const key = `${position}:${part}`
    return position % 2 === 1 ? <Code key={key}>{part}</Code> : <span key={key}>{part}</span>
  })
}
