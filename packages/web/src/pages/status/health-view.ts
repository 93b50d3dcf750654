import type { Health, HealthDetail, ResourceState } from '@svc/protocol/instance'

export type HealthState = 'checking' | 'ok' | 'degraded' | 'critical' | 'down'

/** What the latest poll says. An answer from before the outage is no answer. */
export function healthState(poll: { data: Health | undefined; isError: boolean }): HealthState {
  if (poll.isError) return 'down'
  const { status, detail } = poll.data ?? { status: 'checking' }
  if (detail && healthRows(detail).some((row) => row.state === 'critical')) return 'critical'
  return status
}

export const headlines: Record<HealthState, string> = {
  checking: 'Asking the server…',
  ok: 'The server is healthy',
  degraded: 'The server works, with warnings',
  critical: 'The server works, and something is critical',
  down: 'The server does not answer',
}

export interface HealthRow {
  readonly name: string
  /** What is measured, in words; undefined when there is no number. */
  readonly measure: string | undefined
  readonly percent: number | undefined
  readonly state: ResourceState
  readonly stateWord: string
}

const stateWords: Record<ResourceState, string> = { ok: 'OK', warn: 'Warning', critical: 'Critical' }

export function healthRows({ filesystems, memory, cpu, audit }: HealthDetail): HealthRow[] {
  const row = (name: string, measure: string, percent: number, state: ResourceState): HealthRow => ({
    name,
    measure,
    percent,
    state,
    stateWord: stateWords[state],
  })
  return [
    ...filesystems.map(({ path, usage_percent, state }) => row(path, 'used', usage_percent, state)),
    ...(memory ? [row('Memory', 'used', memory.usage_percent, memory.state)] : []),
    ...(cpu ? [row('Processor', 'of the time waiting', cpu.psi_avg60_percent, cpu.state)] : []),
    {
      name: 'Audit log',
      measure: undefined,
      percent: undefined,
      state: audit ? 'critical' : 'ok',
      stateWord: audit ? 'Writing failed' : 'OK',
    },
  ]
}
