import { readFileSync } from 'node:fs'

/** A new UUID, made by the kernel: loading Node's own cryptography for it would take a tenth of the agent's start. */
export function uniqueId(): string {
  return readFileSync('/proc/sys/kernel/random/uuid', 'utf8').trim()
}
