import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'

const SUDO = ['/usr/bin/sudo', '/usr/local/bin/sudo', '/bin/sudo']

/** Needs root. Says in so many words whether the user may become root, where the image has sudo at all. */
export function writeSudoRule(userId: number, isAllowed: boolean, etc = '/etc'): void {
  const folder = `${etc}/sudoers.d`
  if (!existsSync(folder) || !SUDO.some((path) => existsSync(path))) return
  // sudo passes over names with a dot, so it never sees one that is half written.
  const draft = `${folder}/svc.new`
  rmSync(draft, { force: true })
  // By number: images have different names for the user.
  writeFileSync(draft, `#${userId} ALL=(ALL:ALL) ${isAllowed ? 'NOPASSWD: ALL' : '!ALL'}\n`, {
    flag: 'wx',
    mode: 0o440,
  })
  chmodSync(draft, 0o440)
  renameSync(draft, `${folder}/svc`)
}
