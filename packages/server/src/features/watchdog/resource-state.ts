import type { ResourceState } from '@svc/protocol/instance'

/** A value must fall this far below a threshold before the state relaxes, or it would flicker around it. */
const HYSTERESIS_POINTS = 5

export interface Thresholds {
  readonly warnPercent: number
  readonly criticalPercent: number
}

/** The state after measuring `percent`, given the state before. Worsening is immediate, relaxing needs distance. */
export function nextState(before: ResourceState, percent: number, thresholds: Thresholds): ResourceState {
  const { warnPercent, criticalPercent } = thresholds
  if (percent >= criticalPercent) return 'critical'
  if (before === 'critical' && percent > criticalPercent - HYSTERESIS_POINTS) return 'critical'
  if (percent >= warnPercent) return 'warn'
  return before !== 'ok' && percent > warnPercent - HYSTERESIS_POINTS ? 'warn' : 'ok'
}
