import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tarDirectory } from './tar-directory.ts'

async function unpacked(fill: (folder: string) => void): Promise<{ out: string; tar: Buffer }> {
  const root = mkdtempSync(join(tmpdir(), 'tar-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const [folder, out] = [join(root, 'in'), join(root, 'out')]
  for (const made of [folder, out]) mkdirSync(made)
  fill(folder)
  const pieces: Uint8Array[] = []
  for await (const piece of tarDirectory(folder)) pieces.push(piece)
  const tar = Buffer.concat(pieces)
  execFileSync('tar', ['xpf', '-', '-C', out], { input: tar })
  return { out, tar }
}

test('names of every kind arrive, and those that are not plain say so in an extended header', async () => {
  const names = ['plain', 'größe 日本語', 'n'.repeat(200), 'a line\nbreak']
  const { out, tar } = await unpacked((folder) => {
    for (const name of names) writeFileSync(join(folder, name), 'x')
    mkdirSync(join(folder, 'd'))
    symlinkSync('ö', join(folder, 'd', 'link'))
  })
  expect(readdirSync(out, { recursive: true }).toSorted()).toEqual([...names, 'd', 'd/link'].toSorted())
  expect(tar.includes('path=größe 日本語\n')).toBe(true)
  expect(tar.includes('linkpath=ö\n')).toBe(true)
})

test('a name that is no text arrives as it is', async () => {
  const name = Buffer.from([0x61, 0xff, 0xfe])
  const { out } = await unpacked((folder) => writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), 'x'))
  expect(readdirSync(out, { encoding: 'buffer' })).toEqual([name])
})

test('nothing keeps a mode that gives a power', async () => {
  const { out } = await unpacked((folder) => {
    writeFileSync(join(folder, 'run'), 'x')
    chmodSync(join(folder, 'run'), 0o6755)
  })
  expect(statSync(join(out, 'run')).mode & 0o7777).toBe(0o755)
})

test('what opens and cannot be read is left out, and harms nothing else', async () => {
  // The loopback interface has a file for its speed, and no speed.
  const pieces: Uint8Array[] = []
  for await (const piece of tarDirectory('/sys/class/net/lo/')) pieces.push(piece)
  const names = execFileSync('tar', ['tf', '-'], { input: Buffer.concat(pieces), encoding: 'utf8' }).split('\n')
  expect(names).toContain('type')
  expect(names).toContain('uevent')
  expect(names).not.toContain('speed')
})
