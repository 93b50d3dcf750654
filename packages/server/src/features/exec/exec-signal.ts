import { constants } from 'node:os'

/** `TERM` and `SIGTERM` alike; undefined for what is no signal. */
export function findSignal(name: string): string | undefined {
  const full = name.startsWith('SIG') ? name : `SIG${name}`
  return Object.hasOwn(constants.signals, full) ? full : undefined
}

/** As clients are told of it: `TERM`. */
export const wireSignal = (name: string): string => name.replace(/^SIG/, '')
