import { cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { uniqueId } from '../unique-id.ts'

const SKELETON = '/etc/skel'

/**
 * Makes a home from the skeleton, unless something is there already. It appears complete or not at all: one that was
 * left half made by a crash would never be filled.
 */
export function ensureHome(path: string, skeleton = SKELETON): void {
  if (isThere(path)) return
  const draft = `${dirname(path)}/.svc-home-${uniqueId()}`
  try {
    mkdirSync(draft, { mode: 0o755, recursive: true })
    if (existsSync(skeleton)) cpSync(skeleton, draft, { recursive: true, verbatimSymlinks: true, force: false })
    renameSync(draft, path)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** A link that leads nowhere is there too. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
