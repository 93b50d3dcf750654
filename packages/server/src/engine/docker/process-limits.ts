import { readFileSync } from 'node:fs'

/** Enough for development tools. More would let one workspace take what all on the machine share. */
const MOST_FILES = 20_000
const MOST_PROCESSES = 32_768

export interface ProcessLimits {
  readonly nofile: number
  readonly nproc: number
}

/** What a container's processes get: no more than our own hard limits, because a runtime may not be allowed to raise them. */
export function readProcessLimits(): ProcessLimits {
  return parseProcessLimits(readFileSync('/proc/self/limits', 'utf8'))
}

export function parseProcessLimits(text: string): ProcessLimits {
  return {
    nofile: Math.min(hardLimit(text, 'Max open files'), MOST_FILES),
    nproc: Math.min(hardLimit(text, 'Max processes'), MOST_PROCESSES),
  }
}

function hardLimit(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(name))
  const [, hard] = line?.slice(name.length).trim().split(/\s+/) ?? []
  return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
}
