import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { plainSetup } from '../testing/test-agent.ts'
import { TestLink } from '../testing/test-link.ts'

const IMAGE = 'localhost/svc-workspace:latest'
/** Root inside is this one outside. */
const FIRST_ID = 1_000_000
const hasImage =
  process.getuid?.() === 0 && spawnSync('podman', ['image', 'exists', IMAGE], { timeout: 10_000 }).status === 0

/** The built agent as the only program of a real container, as root in a user namespace. */
class TestContainer implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-agent-container-'))
  readonly #name = `svc-agent-test-${randomUUID()}`
  readonly #files: string[] = []

  constructor() {
    chmodSync(this.folder, 0o755)
    for (const name of ['run', 'home']) {
      mkdirSync(join(this.folder, name))
      chownSync(join(this.folder, name), FIRST_ID, FIRST_ID)
    }
  }

  /** As in an image that knows nobody but root. */
  forgetUsers(): void {
    const known = { passwd: 'root:x:0:0:root:/root:/bin/bash\n', group: 'root:x:0:\n', shadow: 'root:*:1::::::\n' }
    for (const [name, text] of Object.entries(known)) {
      const file = join(this.folder, name)
      writeFileSync(file, text)
      chownSync(file, FIRST_ID, FIRST_ID)
      this.#files.push('-v', `${file}:/etc/${name}`)
    }
  }

  get home(): string {
    return join(this.folder, 'home')
  }

  async start(): Promise<TestLink> {
    const packageFolder = fileURLToPath(new URL('../..', import.meta.url))
    execFileSync(process.execPath, [join(packageFolder, 'build.mjs')])
    const map = `0:${FIRST_ID}:65536`
    const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024']
    const mounts = [
      '-v',
      `${this.folder}/run:/run/svc`,
      '-v',
      `${this.home}:/home`,
      '-v',
      `${packageFolder}/dist:/opt/svc:ro`,
      ...this.#files,
    ]
    const shape = ['--init', '--network', 'none', '--uidmap', map, '--gidmap', map, '--tmpfs', '/tmp:rw,exec,nosuid']
    const command = ['/opt/svc/node', '/opt/svc/agent.mjs']
    const about = ['--name', this.#name, '--label', 'svc.test=agent']
    execFileSync('podman', [
      '--runtime',
      'runc',
      'run',
      '-d',
      ...about,
      ...limits,
      ...shape,
      ...mounts,
      IMAGE,
      ...command,
    ])
    for (let tries = 0; ; tries++) {
      try {
        return await TestLink.open(`${this.folder}/run/agent.sock`)
      } catch (error) {
        if (tries > 500) throw error
        await delay(10)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Podman sometimes fails once with a directory that is still in use.
    const remove = () => spawnSync('podman', ['rm', '-f', '-t', '1', this.#name]).status === 0
    for (let tries = 0; !remove() && tries < 20; tries++) await delay(100)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

describe.skipIf(!hasImage)('setup as root of a container (needs podman and the workspace image)', () => {
  const shell = async (link: TestLink, script: string) =>
    (await link.ask({ op: 'exec', argv: ['bash', '-c', script], login: false, cwd: '/', env: {} })).text.trim()

  test('the user is made, gets a home and a token, and root is gone for good', async () => {
    await using container = new TestContainer()
    container.forgetUsers()
    const link = await container.start()
    await link.ask({ ...plainSetup, token: 'secret' })
    expect(await shell(link, 'id; cat /tmp/svc/workspace-token')).toBe(
      'uid=1000(svc) gid=1000(svc) groups=1000(svc)\nsecret',
    )
    expect(await shell(link, 'stat -c "%U %a" /home /home/svc /tmp/svc /home/svc/.profile')).toBe(
      'svc 755\nsvc 755\nsvc 700\nsvc 644',
    )
    expect(await shell(link, 'tail -1 /etc/passwd')).toBe('svc:x:1000:1000:svc:/home:/bin/bash')
    expect(await shell(link, "grep -hE 'Uid|Gid|Groups|CapEff|CapPrm' /proc/$PPID/status")).toMatch(
      /Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t1000 \nCapPrm:\t0+\nCapEff:\t0+/,
    )
    expect(await shell(link, 'touch /etc/x 2>/dev/null || echo no; echo > /run/svc/x || echo no')).toBe('no\nno')
    await link.ask({ op: 'home.prepare', user_id: 'u-1', handle: 'anna' })
    expect(await shell(link, 'stat -c %U /home/anna/')).toBe('svc')
    const before = await shell(link, 'md5sum /etc/passwd /etc/group')
    await link.ask({ ...plainSetup, token: 'other' })
    expect(await shell(link, 'md5sum /etc/passwd /etc/group')).toBe(before)
  })

  test('whoever may have sudo has it without a password, and nobody else has it', async () => {
    for (const [sudo, answer] of [
      [true, '0'],
      [false, 'no'],
    ] as const) {
      await using container = new TestContainer()
      const link = await container.start()
      await link.ask({ ...plainSetup, sudo })
      expect(await shell(link, 'sudo -n id -u 2>/dev/null || echo no')).toBe(answer)
    }
  })

  test('links that the user laid in an earlier run lead root nowhere', async () => {
    await using container = new TestContainer()
    const outside = join(container.folder, 'outside')
    mkdirSync(outside)
    writeFileSync(`${outside}/file`, 'untouched')
    symlinkSync('/etc', `${container.home}/svc`)
    symlinkSync('/etc/cron.d', `${container.home}/.users`)
    const link = await container.start()
    await link.ask(plainSetup)
    expect(await shell(link, 'stat -c "%u" /etc /etc/passwd /etc/skel; readlink /home/svc')).toBe('0\n0\n0\n/etc')
    expect((await link.call({ op: 'home.prepare', user_id: 'u-1', handle: 'anna' }).closed)?.code).toBeDefined()
    expect(await shell(link, 'ls -A /etc/cron.d 2>/dev/null | grep u-1')).toBe('')
    expect(lstatSync(`${container.home}/svc`).isSymbolicLink()).toBe(true)
    expect(readFileSync(`${outside}/file`, 'utf8')).toBe('untouched')
  })

  test('a terminal in it belongs to the user', async () => {
    await using container = new TestContainer()
    const link = await container.start()
    await link.ask({ ...plainSetup, service_command: 'id -un; pwd' })
    const call = link.call({ op: 'terminal.attach', id: 'service', lossy: false })
    await expect.poll(() => call.text).toMatch(/svc.*\/home\/svc.*status 0\]/s)
  })
})
