import { lstat, mkdir, readdir, readlink, rename, rmdir, symlink, unlink } from 'node:fs/promises'
import { type Places, sharedHome } from '../places.ts'
import { RequestError } from '../request-error.ts'
import { uniqueId } from '../unique-id.ts'
import { ensureHome, isThere } from './skeleton.ts'

/**
 * Makes the private home of a member. It is kept by user id, and found by the handle through a link, so that a change of
 * the handle moves nothing but the link.
 */
export async function prepareMemberHome(places: Places, userId: string, handle: string): Promise<void> {
  const name = `${places.homes}/${handle}`
  if (!/^[\w-][\w.@+-]{0,63}$/.test(handle) || name === sharedHome(places)) {
    throw new RequestError('bad_request', 'handle cannot be the name of a home')
  }
  const home = `${places.homes}/.users/${userId}`
  await mkdir(`${places.homes}/.users`, { recursive: true })
  ensureHome(home)
  await removeOldNames(places.homes, userId, handle)
  if ((await linkAt(name)) === linkTo(userId)) return
  if (isThere(name) && (await lstat(name)).isDirectory()) await moveInto(name, home)
  await placeLink(name, userId)
}

const linkTo = (userId: string) => `.users/${userId}`

async function linkAt(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch {
    return undefined
  }
}

async function removeOldNames(homes: string, userId: string, handle: string): Promise<void> {
  const links = (await readdir(homes, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink())
  for (const { name } of links) {
    if (name !== handle && (await linkAt(`${homes}/${name}`)) === linkTo(userId)) await unlink(`${homes}/${name}`)
  }
}

/** A real directory under that name comes from a workspace that was kept otherwise. Names that exist are kept. */
async function moveInto(from: string, home: string): Promise<void> {
  const leftOver = []
  for (const name of await readdir(from)) {
    if (isThere(`${home}/${name}`)) leftOver.push(name)
    else await rename(`${from}/${name}`, `${home}/${name}`)
  }
  if (leftOver.length === 0) await rmdir(from)
  else await rename(from, `${home}/before-${uniqueId().slice(0, 8)}`)
}

/** At once: the name leads somewhere at every moment. */
async function placeLink(name: string, userId: string): Promise<void> {
  const draft = `${name}.${uniqueId()}`
  await symlink(linkTo(userId), draft)
  try {
    await rename(draft, name)
  } catch (error) {
    await unlink(draft)
    throw error
  }
}
