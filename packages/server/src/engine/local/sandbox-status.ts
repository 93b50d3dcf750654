import { readFile } from 'node:fs/promises'

export interface SandboxStatus {
  /** Number of the first process of the namespace, as the host sees it. */
  readonly initPid: number | undefined
  /** Once all is over; as a shell tells it, 128 and more for a signal. */
  readonly exitCode: number | undefined
}

/** What the sandbox wrote: an object of JSON on each line. */
export async function readSandboxStatus(file: string): Promise<SandboxStatus> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const facts = Object.assign({}, ...text.split('\n').map(parseLine))
  return { initPid: asNumber(facts['child-pid']), exitCode: asNumber(facts['exit-code']) }
}

function parseLine(line: string): object {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

const asNumber = (value: unknown): number | undefined => (Number.isInteger(value) ? Number(value) : undefined)
