import { chmod, mkdir, readdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { EngineBench } from './engine-bench.ts'
import { MEGABYTE, NEVER, READ_LIMITS } from './probes.ts'

export function contentTests(bench: EngineBench): void {
  const { spec, run, inside, read, requireSupport } = bench

  describe('what is in a container', () => {
    test('environment values arrive exactly, whatever they hold', async () => {
      const env = {
        LINES: 'first\nsecond\n',
        QUOTES: `"double" 'single' \`back\` $HOME \\n`,
        UNICODE: 'Zürich 東京 🚀',
        EMPTY: '',
        EQUALS: 'a=b=c',
        SPACES: '  both ends  ',
      }
      const id = await run({ env })
      const names = JSON.stringify(Object.keys(env))
      expect(await inside(id, `return Object.fromEntries(${names}.map((n) => [n, process.env[n]]))`)).toEqual(env)
    })

    test('nothing of the server’s own environment is there', async () => {
      const id = await run()
      expect(await inside(id, `return process.env.VITEST ?? 'not there'`)).toBe('not there')
    })

    test('its home is kept when the container is gone', async () => {
      const one = spec()
      const write = `(await load('node:fs')).writeFileSync('/home/kept', 'kept')`
      const id = await bench.engine.run(one, { signal: NEVER, onCreated: async () => {} })
      await inside(id, write)
      await bench.engine.remove(id, { graceSeconds: 0 })
      const again = await bench.engine.run(one, { signal: NEVER, onCreated: async () => {} })
      expect(await read(again, '/home/kept')).toBe('kept')
      await bench.engine.remove(again, { graceSeconds: 0 })
      await bench.engine.homes.remove(one.workspaceId)
    })

    test('the agent’s own files cannot be changed', async () => {
      const id = await run()
      const write = `(await load('node:fs')).writeFileSync('/opt/svc/agent.mjs', '')`
      await expect(inside(id, write)).rejects.toThrow(/EROFS|EACCES/)
    })

    test('directories of the host are mounted, and not written when they are read-only', async () => {
      const source = join(bench.host.folder, 'open-to-all')
      await mkdir(source, { recursive: true })
      await chmod(source, 0o777)
      const id = await run({ mounts: [{ kind: 'host', source, target: '/mnt/host', readOnly: true }] })
      const write = `(await load('node:fs')).writeFileSync('/mnt/host/file', '')`
      await expect(inside(id, write)).rejects.toThrow(/EROFS/)
      const other = await run({ mounts: [{ kind: 'host', source, target: '/mnt/host', readOnly: false }] })
      await inside(other, write)
      expect(await readdir(source)).toEqual(['file'])
    })

    test('a directory that is exchanged for a link during the start gives away nothing', async () => {
      const folder = join(bench.host.folder, 'exchanged')
      const source = join(folder, 'shared')
      for (const name of ['shared', 'secret']) {
        await mkdir(join(folder, name, `in-${name}`), { recursive: true })
        await chmod(join(folder, name), 0o777)
      }
      const exchange = async () => {
        await rename(source, join(folder, 'away'))
        await symlink(join(folder, 'secret'), source)
      }
      const one = spec({ mounts: [{ kind: 'host', source, target: '/mnt/host', readOnly: false }] })
      const started = await bench.engine.run(one, { signal: NEVER, onCreated: exchange }).catch((error) => error)
      // An engine that mounts before it tells of the container has the right directory by then.
      if (started instanceof Error) expect(started.message).toContain('was exchanged while it was being mounted')
      else
        expect(await inside(started, `return (await load('node:fs')).readdirSync('/mnt/host')`)).toEqual(['in-shared'])
    })

    test('limits of memory, processor, processes and /tmp are in force', async ({ skip }) => {
      requireSupport('limits', skip)
      const limits = { cpus: 0.5, memoryBytes: 300 * MEGABYTE, pids: 77, tmpBytes: 5 * MEGABYTE }
      const id = await run({ limits })
      expect(await inside(id, READ_LIMITS)).toEqual({ cpus: 0.5, memory: 300 * MEGABYTE, swap: 0, pids: 77 })
      const tmp = await inside(id, `const s = (await load('node:fs')).statfsSync('/tmp'); return s.bsize * s.blocks`)
      expect(tmp).toBe(5 * MEGABYTE)
    })

    test('without limits there are none, not even those the engine would choose', async ({ skip }) => {
      requireSupport('limits', skip)
      const id = await run()
      expect(await inside(id, READ_LIMITS)).toMatchObject({ cpus: 'max', pids: 'max' })
    })

    test('files and processes are limited no higher than for the server itself', async ({ skip }) => {
      requireSupport('limits', skip)
      const text = String(await read(await run(), '/proc/self/limits'))
      const hard = (name: string) => Number(new RegExp(`^${name} +\\S+ +(\\S+)`, 'm').exec(text)?.[1])
      expect(hard('Max open files')).toBeLessThanOrEqual(20_000)
      expect(hard('Max processes')).toBeLessThanOrEqual(32_768)
    })

    test('of what is gone with the container only /tmp holds programs, and none with a set-user bit', async ({
      skip,
    }) => {
      requireSupport('limits', skip)
      const mounts = String(await read(await run(), '/proc/self/mounts')).split('\n')
      const options = (target: string) => mounts.find((line) => line.split(' ')[1] === target)?.split(' ')[3] ?? ''
      for (const target of ['/tmp', '/run', '/var/log']) {
        expect(options(target).split(','), target).toContain('nosuid')
      }
      expect(options('/tmp')).not.toContain('noexec')
      expect([options('/run'), options('/var/log')].every((text) => text.includes('noexec'))).toBe(true)
    })
  })
}
