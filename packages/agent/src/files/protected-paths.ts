import { realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type Places, sharedHome } from '../places.ts'
import { RequestError } from '../request-error.ts'

/** What the system makes up. None of it can be taken away, and copies of some of it have no end. */
const MADE_UP = ['/proc', '/sys', '/dev']

/** Refuses what the workspace cannot do without: the system, the homes themselves, and what the server put there. */
export async function refuseProtected(path: string, places: Places): Promise<void> {
  // A name is taken for itself; what leads to it may go through links.
  const real = path === '/' ? path : `${await realpath(dirname(path))}/${basename(path)}`.replace('//', '/')
  const members = `${places.homes}/.users`
  const needed = [
    places.homes,
    sharedHome(places),
    members,
    places.runtime,
    dirname(places.socket),
    '/opt/svc',
    '/run/svc',
    ...MADE_UP,
  ]
  const holdsNeeded = needed.some((needed) => needed === real || needed.startsWith(real === '/' ? '/' : `${real}/`))
  const isMadeUp = /^\/(?:proc|sys)\//.test(real)
  if (holdsNeeded || isMadeUp || dirname(real) === members) {
    throw new RequestError('bad_request', `The workspace needs ${path}: it must stay where it is`)
  }
}
