import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { isExecutable } from '../shells.ts'

const NAME = 'svc'
/** A password that nothing matches; the account is not locked, so that sudo takes it. */
const NO_PASSWORD = '*'

export interface Account {
  readonly name: string
  readonly groupId: number
  readonly shell: string
}

/** The account of a user id in `etc/passwd`. */
export function findAccount(userId: number, etc = '/etc'): Account | undefined {
  const row = rowsOf(`${etc}/passwd`).find((fields) => fields[2] === String(userId))
  if (!row) return undefined
  const [name = '', , , groupId, , , shell = ''] = row
  return { name, groupId: Number(groupId), shell: isUsable(shell) ? shell : defaultShell() }
}

/** Needs root. Gives the user a name, unless the image has one for it. */
export function ensureAccount(userId: number, etc = '/etc'): Account {
  const found = findAccount(userId, etc)
  if (found) return found
  const name = freeName(userId, etc)
  const shell = defaultShell()
  if (!rowsOf(`${etc}/group`).some((fields) => fields[2] === String(userId))) {
    appendRow(`${etc}/group`, `${name}:x:${userId}:`)
  }
  // The home of the account is the place that holds the homes; each process is given its own.
  appendRow(`${etc}/passwd`, `${name}:x:${userId}:${userId}:svc:/home:${shell}`)
  if (existsSync(`${etc}/shadow`)) appendRow(`${etc}/shadow`, `${name}:${NO_PASSWORD}:19000:0:99999:7:::`)
  return { name, groupId: userId, shell }
}

/** The image may use our name for somebody else. */
function freeName(userId: number, etc: string): string {
  const taken = ['passwd', 'group'].flatMap((file) => rowsOf(`${etc}/${file}`).map(([name]) => name))
  return taken.includes(NAME) ? `${NAME}${userId}` : NAME
}

function defaultShell(): string {
  return ['/bin/bash', '/usr/bin/bash'].find(isExecutable) ?? '/bin/sh'
}

/** Accounts that nobody should sign in to have such a shell; a person in a terminal needs a real one. */
function isUsable(shell: string): boolean {
  return !/\/(nologin|false)$/.test(shell) && isExecutable(shell)
}

function rowsOf(file: string): string[][] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
}

/** One write at the end: a reader sees the file without the row or with it. */
function appendRow(file: string, row: string): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const separator = before === '' || before.endsWith('\n') ? '' : '\n'
  appendFileSync(file, `${separator}${row}\n`)
}
