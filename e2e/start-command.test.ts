import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { scratchFolder } from '@svc/server/testing/start-daemon'
import { describe, expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
/** What `npm start` and `npm test` leave behind. Without them it would install or build under the other tests' feet. */
const isPrepared = ['node_modules/.svc-installed', 'packages/web/dist/.built-from'].every((stamp) =>
  existsSync(join(ROOT, stamp)),
)

describe.skipIf(!isPrepared)('npm start in a checkout that has been started or tested before', () => {
  test('says where the page is, and serves it there', async () => {
    const folder = await scratchFolder()
    const first = await npmStart(folder)
    const answer = await fetch(first.url)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('<title>svc</title>')
    process.stdout.write(`npm start: ready after ${Math.round(first.readyMs)} ms\n`)
  })

  test('writes its settings for its owner alone, and keeps the port from then on', async () => {
    const folder = await scratchFolder()
    const first = await npmStart(folder)
    const file = join(folder, 'config/svcd.yaml')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const settings = await readFile(file, 'utf8')
    expect(settings).toContain(`port: ${new URL(first.url).port}\n`)
    first.child.kill('SIGTERM')
    expect(await first.exit).toBe(0)

    const second = await npmStart(folder)
    expect(second.url).toBe(first.url)
    expect(await readFile(file, 'utf8')).toBe(settings)
    process.stdout.write(`npm start, the second time: ready after ${Math.round(second.readyMs)} ms\n`)
  })

  test('one Ctrl-C, which arrives from the terminal and again through npm, stops it in good order', async () => {
    const { child, pid, exit, output } = await npmStart(await scratchFolder())
    process.kill(-pid, 'SIGINT') // the terminal tells every process of the group
    await setTimeout(5) // at once, the kernel would make one signal of the two
    child.kill('SIGINT')
    expect(await exit).toBe(0)
    expect(output()).toContain('stopping (signal:SIGINT)')
    expect(output()).not.toContain('forces the end')
  })
})

/** Runs what `npm start` runs, in a process group of its own as a shell would, until it is ready. */
async function npmStart(folder: string) {
  const began = performance.now()
  const child = spawn(process.execPath, [join(ROOT, 'scripts/start.mjs')], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${await folderWithoutNpm(folder)}:${process.env.PATH}`,
      HOME: folder,
      SVCD_CONFIG_DIR: join(folder, 'config'),
      SVCD_STATE_DIR: join(folder, 'state'),
      SVCD_DATA_DIR: join(folder, 'data'),
    },
  })
  const { pid } = child
  if (pid === undefined) throw new Error('npm start could not be run')
  const exit = once(child, 'close').then(([code, signal]) => code ?? signal)
  // A polite signal: it passes that on to the server, which a kill would leave behind.
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exit
  })
  let text = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk
        const ready = /^svcd is ready: (http:\S+)$/m.exec(text)?.[1]
        if (ready) resolve(ready)
      })
    }
    exit.then((code) => reject(new Error(`npm start ended with ${code} before it was ready:\n${text}`)))
  })
  return { child, pid, exit, url, output: () => text, readyMs: performance.now() - began }
}

/** A prepared checkout needs no network, so what would use it fails. */
async function folderWithoutNpm(folder: string): Promise<string> {
  const bin = join(folder, 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'npm'), '#!/bin/sh\necho "a prepared checkout must not install anything" >&2\nexit 1\n', {
    mode: 0o755,
  })
  return bin
}
