import { accessSync, constants } from 'node:fs'

/** A shell that reads the profile and runs `-c`, of those that images have. */
export function loginShell(): string {
  return ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find(isExecutable) ?? '/bin/sh'
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
