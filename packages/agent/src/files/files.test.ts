import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import type { FileRequest } from '@svc/protocol/agent/requests'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TestAgent } from '../testing/test-agent.ts'
import type { TestLink } from '../testing/test-link.ts'

const OTHER_DISK = '/dev/shm'

function isOtherDisk(): boolean {
  const dev = (path: string) => statSync(path, { throwIfNoEntry: false })?.dev
  return dev(OTHER_DISK) !== undefined && dev(OTHER_DISK) !== dev(tmpdir())
}

describe('files', () => {
  let agent: TestAgent
  let link: TestLink
  let folder: string
  let count = 0

  beforeAll(async () => {
    ;({ agent, link } = await TestAgent.ready())
  })
  afterAll(() => agent[Symbol.asyncDispose]())
  beforeEach(() => {
    folder = `${agent.home}/case-${++count}`
    mkdirSync(folder)
  })

  const failure = async (request: FileRequest) => (await link.call(request).closed)?.code
  const list = async (path: string) =>
    (await link.ask({ op: 'files.list', path })).messages.flatMap((message) =>
      message.type === 'entries' ? message.entries : [],
    )

  describe('listing', () => {
    test('names are sorted, links followed, and links that lead nowhere listed as empty files', async () => {
      mkdirSync(`${folder}/b-folder`)
      writeFileSync(`${folder}/c-file`, 'four')
      utimesSync(`${folder}/c-file`, 1000.5, 1000.5)
      symlinkSync('b-folder', `${folder}/a-link`)
      symlinkSync('nowhere', `${folder}/d-broken`)
      const entries = await list(folder)
      expect(entries.map(({ name, is_dir, size }) => [name, is_dir, size])).toEqual([
        ['a-link', true, 0],
        ['b-folder', true, 0],
        ['c-file', false, 4],
        ['d-broken', false, 0],
      ])
      expect(entries[2]?.mtime).toBe(1000.5)
    })

    test('names may hold anything, and one that is no text is shown with marks', async () => {
      writeFileSync(`${folder}/tab\tnewline\nquote"`, '')
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x78, 0xff])]), 'xyz')
      expect(await list(folder)).toMatchObject([
        { name: 'tab\tnewline\nquote"', size: 0 },
        { name: 'x\ufffd', size: 3 },
      ])
    })

    test('an empty directory answers an empty list', async () => {
      const call = await link.ask({ op: 'files.list', path: folder })
      expect(call.messages).toEqual([{ type: 'entries', entries: [] }])
    })

    test('a large directory comes in pieces, in order', async () => {
      const names = Array.from(
        { length: 3000 },
        (_, index) => `${String(index).padStart(4, '0')}-${'\u0001'.repeat(200)}`,
      )
      for (const name of names) writeFileSync(`${folder}/${name}`, '')
      expect((await list(folder)).map(({ name }) => name)).toEqual(names)
    })

    test.each([
      ['what is not there', () => `${folder}/nothing`, 'not_found'],
      ['a file', () => '/etc/passwd', 'not_directory'],
    ])('%s cannot be listed', async (_, path, code) => {
      expect(await failure({ op: 'files.list', path: path() })).toBe(code)
    })
  })

  describe('reading', () => {
    test('the content arrives whole, after what it is', async () => {
      const content = randomBytes(3_000_000)
      writeFileSync(`${folder}/big`, content)
      const call = await link.ask({ op: 'files.read', path: `${folder}/big` })
      expect(call.message('stat')?.entry).toMatchObject({ name: 'big', size: 3_000_000, is_dir: false })
      expect(call.bytes.equals(content)).toBe(true)
      expect(call.hasEnded).toBe(true)
    })

    test('an empty file ends at once', async () => {
      writeFileSync(`${folder}/empty`, '')
      const call = await link.ask({ op: 'files.read', path: `${folder}/empty` })
      expect([call.bytes.length, call.hasEnded]).toEqual([0, true])
    })

    test('a slow reader is waited for', async () => {
      writeFileSync(`${folder}/big`, Buffer.alloc(2_000_000))
      const call = link.call({ op: 'files.read', path: `${folder}/big` })
      call.isSlow = true
      await expect.poll(() => call.bytes.length).toBe(256 * 1024)
      call.hurry()
      await call.closed
      expect(call.bytes.length).toBe(2_000_000)
    })

    test('what the system makes up as it is read comes whole, though it is said to be empty', async () => {
      const call = await link.ask({ op: 'files.read', path: '/proc/version' })
      expect(call.message('stat')?.entry).toMatchObject({ size: 0 })
      expect(call.bytes.toString()).toBe(readFileSync('/proc/version', 'utf8'))
    })

    test('directories, named pipes, sockets, circles of links and what is not there are refused', async () => {
      execFileSync('mkfifo', [`${folder}/pipe`])
      expect(await failure({ op: 'files.read', path: folder })).toBe('is_directory')
      expect(await failure({ op: 'files.read', path: `${folder}/pipe` })).toBe('bad_request')
      const server = createServer().listen(`${folder}/socket`)
      await once(server, 'listening')
      expect(await failure({ op: 'files.read', path: `${folder}/socket` })).toBe('bad_request')
      server.close()
      symlinkSync('circle', `${folder}/circle`)
      expect(await failure({ op: 'files.read', path: `${folder}/circle` })).toBe('bad_request')
      expect(await failure({ op: 'files.read', path: `${folder}/none` })).toBe('not_found')
    })

    test('an error is a sentence, without names of the system', async () => {
      const error = await link.call({ op: 'files.stat', path: `${folder}/none` }).closed
      expect(error).toEqual({ code: 'not_found', message: `There is no ${folder}/none in this workspace` })
    })
  })

  describe('writing', () => {
    const write = async (path: string, content: Buffer) => {
      const call = link.call({ op: 'files.write', path })
      await call.channel.write(content)
      call.channel.end()
      call.channel.message({ type: 'keep' })
      return { error: await call.closed, call }
    }

    test('parents are made, and the size is told', async () => {
      const content = randomBytes(2_000_000)
      const { call } = await write(`${folder}/new/parents/file`, content)
      expect(call.message('written')).toEqual({ type: 'written', size: 2_000_000 })
      expect(readFileSync(`${folder}/new/parents/file`).equals(content)).toBe(true)
      expect(statSync(`${folder}/new/parents/file`).mode & 0o777).toBe(0o644)
      expect(readdirSync(`${folder}/new/parents`)).toEqual(['file'])
    })

    test('a file that is replaced keeps its mode, and a link to it stays a link', async () => {
      writeFileSync(`${folder}/script`, 'old')
      chmodSync(`${folder}/script`, 0o750)
      symlinkSync('script', `${folder}/link`)
      await write(`${folder}/link`, Buffer.from('new'))
      expect(readFileSync(`${folder}/script`, 'utf8')).toBe('new')
      expect(statSync(`${folder}/script`).mode & 0o777).toBe(0o750)
      expect(readdirSync(folder)).toEqual(['link', 'script'])
    })

    test('what does not come to its end leaves the old content, and nothing else', async () => {
      writeFileSync(`${folder}/file`, 'old')
      const own = await agent.connect()
      for (const leave of [(call: { channel: { close(): void } }) => call.channel.close(), () => own.close()]) {
        const call = own.call({ op: 'files.write', path: `${folder}/file` })
        await call.channel.write(Buffer.from('half'))
        await expect.poll(() => readdirSync(folder).length).toBe(2)
        leave(call)
        await expect.poll(() => readdirSync(folder)).toEqual(['file'])
      }
      expect(readFileSync(`${folder}/file`, 'utf8')).toBe('old')
    })

    test('what nobody wants to keep leaves the old content, though all of it has come', async () => {
      writeFileSync(`${folder}/file`, 'old')
      const call = link.call({ op: 'files.write', path: `${folder}/file` })
      await call.channel.write(Buffer.from('new'))
      call.channel.end()
      await expect.poll(() => call.message('written')).toEqual({ type: 'written', size: 3 })
      expect(readFileSync(`${folder}/file`, 'utf8')).toBe('old')
      call.channel.close()
      await expect.poll(() => readdirSync(folder)).toEqual(['file'])
      expect(readFileSync(`${folder}/file`, 'utf8')).toBe('old')
    })

    test('a directory that is moved meanwhile is left with nothing of it', async () => {
      mkdirSync(`${folder}/before`)
      const call = link.call({ op: 'files.write', path: `${folder}/before/file` })
      await call.channel.write(Buffer.from('new'))
      call.channel.end()
      await expect.poll(() => call.message('written')).toEqual({ type: 'written', size: 3 })
      renameSync(`${folder}/before`, `${folder}/after`)
      call.channel.message({ type: 'keep' })
      expect((await call.closed)?.code).toBe('not_found')
      expect(readdirSync(folder, { recursive: true })).toEqual(['after'])
    })

    test('directories that were made for what did not come are taken back, as far as they are empty', async () => {
      const call = link.call({ op: 'files.write', path: `${folder}/new/parents/file` })
      await expect.poll(() => readdirSync(folder, { recursive: true }).length).toBe(3)
      writeFileSync(`${folder}/new/other`, '')
      call.channel.close()
      await expect.poll(() => readdirSync(folder, { recursive: true })).toEqual(['new', 'new/other'])
    })

    test('nothing can be put below a file', async () => {
      writeFileSync(`${folder}/file`, '')
      for (const path of [`${folder}/file/a`, `${folder}/file/a/b`]) {
        expect((await write(path, Buffer.from('x'))).error?.code).toBe('not_directory')
        expect(await failure({ op: 'files.make_directory', path })).toBe('not_directory')
        expect(await failure({ op: 'files.rename', from: `${folder}/file`, to: `${folder}/file/a` })).toBe(
          'bad_request',
        )
      }
    })

    test('a directory cannot be replaced by a file', async () => {
      expect((await write(folder, Buffer.from('x'))).error?.code).toBe('is_directory')
    })
  })

  describe('archives', () => {
    test('the system can unpack them: files, directories, links, long and odd names', async () => {
      const long = 'long-'.repeat(40)
      const content = randomBytes(300_000)
      mkdirSync(`${folder}/in/${long}/${long}`, { recursive: true })
      mkdirSync(`${folder}/in/empty`)
      writeFileSync(`${folder}/in/${long}/${long}/ünï.bin`, content)
      writeFileSync(`${folder}/in/run.sh`, '#!/bin/sh\n', { mode: 0o755 })
      chmodSync(`${folder}/in/run.sh`, 0o755)
      symlinkSync(`/${long}`, `${folder}/in/link`)
      execFileSync('mkfifo', [`${folder}/in/pipe`])
      const call = await link.ask({ op: 'files.archive', path: `${folder}/in` })
      expect(call.hasEnded).toBe(true)
      mkdirSync(`${folder}/out`)
      execFileSync('tar', ['xzf', '-', '-C', `${folder}/out`], { input: call.bytes })
      execFileSync('rm', [`${folder}/in/pipe`])
      expect(execFileSync('diff', ['-r', '--no-dereference', `${folder}/in`, `${folder}/out`]).toString()).toBe('')
      expect(statSync(`${folder}/out/run.sh`).mode & 0o777).toBe(0o755)
    })

    test('one that nobody waits for any more is given up', async () => {
      writeFileSync(`${folder}/big`, randomBytes(4_000_000))
      const call = link.call({ op: 'files.archive', path: folder })
      call.isSlow = true
      await expect.poll(() => call.bytes.length).toBeGreaterThan(100_000)
      call.channel.close()
      const openFiles = () => execFileSync('ls', ['-l', `/proc/${agent.process.pid}/fd`]).toString()
      await expect.poll(openFiles).not.toContain(`${folder}/big`)
    })

    test('a file is not a directory', async () => {
      expect(await failure({ op: 'files.archive', path: '/etc/passwd' })).toBe('not_directory')
    })
  })

  describe('renaming', () => {
    test('files and directories move, and parents are made', async () => {
      writeFileSync(`${folder}/file`, 'x')
      mkdirSync(`${folder}/dir/sub`, { recursive: true })
      await link.ask({ op: 'files.rename', from: `${folder}/file`, to: `${folder}/new/file` })
      await link.ask({ op: 'files.rename', from: `${folder}/dir`, to: `${folder}/new/dir` })
      expect(readdirSync(`${folder}/new`)).toEqual(['dir', 'file'])
      expect(readdirSync(`${folder}/new/dir`)).toEqual(['sub'])
      expect(readdirSync(folder)).toEqual(['new'])
    })

    test('nothing is ever replaced, not even by itself or by an empty directory', async () => {
      writeFileSync(`${folder}/one`, '1')
      writeFileSync(`${folder}/two`, '2')
      mkdirSync(`${folder}/dir`)
      mkdirSync(`${folder}/empty`)
      for (const [from, to] of [
        ['one', 'two'],
        ['one', 'one'],
        ['one', 'empty'],
        ['dir', 'empty'],
        ['dir', 'one'],
      ]) {
        expect(await failure({ op: 'files.rename', from: `${folder}/${from}`, to: `${folder}/${to}` })).toBe('exists')
      }
      expect(readdirSync(folder)).toEqual(['dir', 'empty', 'one', 'two'])
      expect(readFileSync(`${folder}/two`, 'utf8')).toBe('2')
    })

    test('of many that want one name, one gets it, and no content is lost', async () => {
      for (let index = 0; index < 20; index++) writeFileSync(`${folder}/${index}`, String(index))
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          failure({ op: 'files.rename', from: `${folder}/${index}`, to: `${folder}/winner` }),
        ),
      )
      expect(results.filter((code) => code === undefined)).toHaveLength(1)
      expect(readdirSync(folder)).toHaveLength(20)
    })

    test.runIf(isOtherDisk())(
      'files, links and directories move to another disk, and nothing is replaced',
      async () => {
        const there = mkdtempSync(`${OTHER_DISK}/svc-files-`)
        chmodSync(there, 0o777)
        try {
          mkdirSync(`${folder}/dir/sub`, { recursive: true })
          writeFileSync(`${folder}/dir/sub/run`, 'x'.repeat(100_000), { mode: 0o755 })
          utimesSync(`${folder}/dir/sub/run`, 1000, 1000)
          symlinkSync('nowhere', `${folder}/dir/link`)
          writeFileSync(`${folder}/file`, 'one')
          symlinkSync('file', `${folder}/link`)
          for (const name of ['dir', 'file', 'link']) {
            await link.ask({ op: 'files.rename', from: `${folder}/${name}`, to: `${there}/new/${name}` })
          }
          expect(readdirSync(folder)).toEqual([])
          expect(readdirSync(`${there}/new`, { recursive: true }).toSorted()).toEqual(
            ['dir', 'dir/link', 'dir/sub', 'dir/sub/run', 'file', 'link'].toSorted(),
          )
          const { mode, mtimeMs, size } = statSync(`${there}/new/dir/sub/run`)
          expect([mode & 0o777, mtimeMs, size]).toEqual([0o755, 1_000_000, 100_000])
          expect([readlinkSync(`${there}/new/link`), readlinkSync(`${there}/new/dir/link`)]).toEqual([
            'file',
            'nowhere',
          ])
          writeFileSync(`${folder}/file`, 'two')
          expect(await failure({ op: 'files.rename', from: `${folder}/file`, to: `${there}/new/file` })).toBe('exists')
          expect([readFileSync(`${folder}/file`, 'utf8'), readFileSync(`${there}/new/file`, 'utf8')]).toEqual([
            'two',
            'one',
          ])
          expect(readdirSync(`${there}/new`)).toHaveLength(3)
        } finally {
          rmSync(there, { recursive: true })
        }
      },
    )

    test('a directory cannot be moved into itself', async () => {
      mkdirSync(`${folder}/dir`)
      expect(await failure({ op: 'files.rename', from: `${folder}/dir`, to: `${folder}/dir/a/b` })).toBe('bad_request')
      expect(readdirSync(`${folder}/dir`)).toEqual([])
    })
  })

  describe('removing', () => {
    test('a directory goes with everything in it, a link alone', async () => {
      mkdirSync(`${folder}/target`)
      writeFileSync(`${folder}/target/kept`, '')
      mkdirSync(`${folder}/dir/sub`, { recursive: true })
      symlinkSync('../target', `${folder}/dir/link`)
      symlinkSync('target', `${folder}/link`)
      await link.ask({ op: 'files.remove', path: `${folder}/dir` })
      await link.ask({ op: 'files.remove', path: `${folder}/link` })
      expect(readdirSync(folder)).toEqual(['target'])
      expect(readdirSync(`${folder}/target`)).toEqual(['kept'])
      expect(await failure({ op: 'files.remove', path: `${folder}/dir` })).toBe('not_found')
    })

    test('what the workspace cannot do without stays, by whatever path', async () => {
      symlinkSync('../..', `${folder}/up`)
      const homes = `${agent.folder}/homes`
      await link.ask({ op: 'home.prepare', user_id: 'u-1', handle: 'anna' })
      const paths = [
        '/',
        '/opt',
        '/opt/svc',
        '/run/svc',
        '/dev',
        '/proc',
        '/proc/self/task',
        '/sys/class',
        homes,
        `${homes}/svc`,
        `${homes}/svc/../svc/.`,
        `${folder}/up/svc`,
      ]
      for (const path of [...paths, `${homes}/.users`, `${homes}/.users/u-1`, agent.folder]) {
        expect([path, await failure({ op: 'files.remove', path })]).toEqual([path, 'bad_request'])
        expect([path, await failure({ op: 'files.rename', from: path, to: `${folder}/x` })]).toEqual([
          path,
          'bad_request',
        ])
      }
    })
  })

  test('a directory is made with its parents, once', async () => {
    await link.ask({ op: 'files.make_directory', path: `${folder}/a/b` })
    expect(statSync(`${folder}/a/b`).isDirectory()).toBe(true)
    expect(await failure({ op: 'files.make_directory', path: `${folder}/a/b` })).toBe('exists')
  })

  test.each([[''], ['relative'], ['/a\0b'], [`/${'x'.repeat(256)}`], [`/${'x/'.repeat(3000)}`]])(
    'the path %j is refused',
    async (path) => {
      expect(await failure({ op: 'files.stat', path })).toBe('bad_request')
    },
  )

  test('many writers and readers at once do not mix', async () => {
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const content = randomBytes(100_000 + index)
        const call = link.call({ op: 'files.write', path: `${folder}/${index}` })
        await call.channel.write(content)
        call.channel.end()
        call.channel.message({ type: 'keep' })
        await call.closed
        const back = await link.ask({ op: 'files.read', path: `${folder}/${index}` })
        expect(digest(back.bytes)).toBe(digest(content))
      }),
    )
  })
})
