import { chmodSync, closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs'
import type { Places } from '../places.ts'
import { type Account, ensureAccount } from './account.ts'
import { giveUpRoot } from './give-up-root.ts'
import { writeSudoRule } from './sudo-rule.ts'

/**
 * All that needs root, and its end. Nothing below the homes is touched here: what is in them was made by the user, who
 * could have laid links there to have root write elsewhere. It is done afterwards, as the user.
 */
export function prepareAsRoot(places: Places, options: { readonly sudo: boolean }): Account {
  const account = ensureAccount(places.userId)
  writeSudoRule(places.userId, options.sudo)
  ownDirectory(places.homes, places.userId, account.groupId)
  openTemporaryDirectory()
  giveUpRoot(places.userId, account.groupId)
  return account
}

/** The directory itself, never what a link in its place points to. */
function ownDirectory(path: string, userId: number, groupId: number): void {
  mkdirSync(path, { recursive: true })
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const { uid } = fstatSync(directory)
    if (uid !== userId) fchownSync(directory, userId, groupId)
  } finally {
    closeSync(directory)
  }
}

/** Some images come without a place for temporary files, or with one for root alone. */
function openTemporaryDirectory(): void {
  mkdirSync('/tmp', { recursive: true })
  if ((statSync('/tmp').mode & 0o1777) !== 0o1777) chmodSync('/tmp', 0o1777)
}
