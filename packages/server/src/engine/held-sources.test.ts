import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { HeldSources } from './held-sources.ts'

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'svc-held-'))
  onTestFinished(() => rm(path, { recursive: true }))
  await mkdir(join(path, 'shared/sub'), { recursive: true })
  await mkdir(join(path, 'secret'))
  return path
}

const mount = (source: string, target = source) => [{ kind: 'host', source, target, readOnly: false }] as const

test('what is where it was is fine', async () => {
  const path = await folder()
  await using held = await HeldSources.hold(mount(join(path, 'shared/sub')))
  await held.requireMounted(process.pid)
})

test('a directory that was exchanged for another, or for a link to one, is noticed', async () => {
  const path = await folder()
  const source = join(path, 'shared/sub')
  await using held = await HeldSources.hold(mount(source))
  await rename(source, join(path, 'away'))
  await expect(held.requireMounted(process.pid)).rejects.toThrow('was exchanged')
  await symlink(join(path, 'secret'), source)
  await expect(held.requireMounted(process.pid)).rejects.toThrow('was exchanged while it was being mounted')
})

test.each(['shared', 'shared/sub'])('a link at %s is not followed', async (part) => {
  const path = await folder()
  await rename(join(path, part), join(path, 'away'))
  await symlink(join(path, 'secret'), join(path, part))
  await mkdir(join(path, 'secret/sub'))
  await expect(HeldSources.hold(mount(join(path, 'shared/sub')))).rejects.toThrow('a part of it has become a link')
})

test('one that is gone says so', async () => {
  await expect(HeldSources.hold(mount(join(await folder(), 'nothing')))).rejects.toThrow('not there any more')
})
