import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { sshAgentSocket } from '@svc/protocol/agent/requests'
import type { Capability } from '@svc/protocol/ws/capabilities'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { AgentBridge, LaptopAgent, missingSshPrograms } from '../../testing/laptop-agent.ts'
import { allowOnly, connect, makeWorkspace, openLocalEngine } from '../../testing/live-workspace.ts'
import type { SocketClient } from '../../testing/socket-client.ts'
import { type AccountsServer, type Person, startAccounts } from '../../testing/start-accounts.ts'

const FORWARD = join(import.meta.dirname, '../../../../../examples/ssh-agent/forward.mjs')
const runHere = promisify(execFile)
const missing = missingSshPrograms.length > 0
const title = missing
  ? `OpenSSH through a workspace: no ${missingSshPrograms.join(', ')} here`
  : 'OpenSSH through a workspace'

describe.skipIf(missing)(title, () => {
  let server: AccountsServer
  let laptop: LaptopAgent
  let ann: Person
  let bob: Person
  let id: string

  beforeAll(async () => {
    server = await startAccounts({ openEngine: openLocalEngine })
    laptop = await LaptopAgent.start()
    ann = await server.person('ann')
    bob = await server.person('bob')
    id = await makeWorkspace(ann)
    await allowOnly(ann, id, [[bob, ['join-workspace', 'exec-and-sync']]])
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await laptop[Symbol.asyncDispose]()
  })

  const agent = () => server.app.lifecycle.requireRunning(id).agent

  /** Runs a command in the workspace, where it finds the agent of this person. */
  async function run(command: string, person = ann): Promise<{ code: number; output: string }> {
    const env = { SSH_AUTH_SOCK: sshAgentSocket(person.id) }
    const exec = agent().exec({ argv: ['bash', '-c', `(${command}) 2>&1`], login: false, cwd: '/home/svc', env })
    exec.stdin.end()
    const output = await text(exec.stdout)
    return { code: (await exec.exited).code, output }
  }

  async function forward(
    caps: readonly Capability[],
    person = ann,
  ): Promise<{ socket: SocketClient; bridge: AgentBridge }> {
    const socket = await server.socket(person.token, { caps })
    await connect(socket, id)
    const bridge = new AgentBridge(socket, laptop.socket, { binary: caps.includes('bin') })
    socket.send({ cmd: 'ssh_agent_start' })
    expect(await socket.next('ssh_agent_started')).toEqual({
      type: 'ssh_agent_started',
      socket: sshAgentSocket(person.id),
    })
    return { socket, bridge }
  }

  const kinds: [string, Capability[]][] = [
    ['ssh2', ['ssh2']],
    ['ssh2 and bin', ['ssh2', 'bin']],
    ['neither', []],
    ['bin alone', ['bin']],
  ]

  describe.each(kinds)('a client with %s', (_, caps) => {
    test('lists its keys in the workspace', async () => {
      const { socket } = await forward(caps)
      const { code, output } = await run('ssh-add -l')
      expect([code, output]).toEqual([0, expect.stringMatching(/key one.*\n.*key two/)])
      await socket.close()
    })

    test('signs in the workspace with a key that never leaves its own machine', async () => {
      const { socket } = await forward(caps)
      const publicKey = await laptop.publicKey('two')
      const script = `cd /tmp && echo '${publicKey.trim()}' > k.pub && echo hello > note && rm -f note.sig &&
        ssh-keygen -q -Y sign -n file -f k.pub note && cat note.sig`
      const { code, output } = await run(script)
      expect([code, output]).toEqual([0, expect.stringContaining('BEGIN SSH SIGNATURE')])
      const [signature, signers] = [join(laptop.folder, 'note.sig'), join(laptop.folder, 'signers')]
      await writeFile(signature, output.slice(output.indexOf('-----BEGIN')))
      await writeFile(signers, `ann ${publicKey}`)
      const verify = ['-Y', 'verify', '-f', signers, '-I', 'ann', '-n', 'file', '-s', signature]
      const verified = runHere('ssh-keygen', verify)
      verified.child.stdin?.end('hello\n')
      expect((await verified).stdout).toContain('Good "file" signature for ann')
      await socket.close()
    })

    test('serves sixteen programs that come at once', async () => {
      const { socket, bridge } = await forward(caps)
      const { output } = await run('for n in $(seq 16); do (ssh-add -l >/dev/null 2>&1; echo "ended $?") & done; wait')
      expect(output.trim().split('\n')).toEqual(Array.from({ length: 16 }, () => 'ended 0'))
      if (caps.includes('ssh2')) await expect.poll(() => bridge.size).toBe(0)
      else expect(bridge.peak).toBe(1)
      await expect.poll(() => agent().callCount).toBe(1)
      await socket.close()
    })

    test('is asked no longer once it stops', async () => {
      const { socket } = await forward(caps)
      expect((await run('ssh-add -l')).code).toBe(0)
      socket.send({ cmd: 'ssh_agent_stop' })
      await socket.next('ssh_agent_stopped')
      await expect.poll(() => agent().callCount).toBe(0)
      const { code, output } = await run('ssh-add -l; ls $SSH_AUTH_SOCK')
      expect([code, output]).toEqual([2, expect.stringContaining('No such file or directory')])
      await socket.close()
    })

    test('is asked no longer once its socket is gone', async () => {
      const { socket } = await forward(caps)
      socket.terminate()
      await expect.poll(() => agent().callCount).toBe(0)
      expect(await run('ssh-add -l; ls $SSH_AUTH_SOCK')).toMatchObject({ code: 2 })
    })
  })

  test('members find their own agents at different places', async () => {
    const { socket } = await forward(['ssh2'])
    expect((await run('ssh-add -l', bob)).code).toBe(2)
    const ofBob = await forward(['ssh2'], bob)
    expect((await run('ssh-add -l', bob)).code).toBe(0)
    await socket.close()
    await expect.poll(async () => (await run('ssh-add -l', ann)).code).toBe(2)
    expect((await run('ssh-add -l', bob)).code).toBe(0)
    await ofBob.socket.close()
  })

  test('a second connection of the same person takes over, and the first is told', async () => {
    const first = await forward(['ssh2'])
    const second = await forward([])
    await first.socket.next('ssh_agent_stopped')
    expect((await run('ssh-add -l')).code).toBe(0)
    expect(first.bridge.peak).toBe(0)
    first.socket.send({ cmd: 'ssh_agent_start' })
    await first.socket.next('ssh_agent_started')
    await second.socket.next('ssh_agent_stopped')
    expect((await run('ssh-add -l')).code).toBe(0)
    expect(first.bridge.peak).toBe(1)
    await first.socket.close()
    await second.socket.close()
  })

  test('starting twice on one connection changes nothing and is answered again', async () => {
    const { socket } = await forward(['ssh2'])
    socket.send({ cmd: 'ssh_agent_start' })
    await socket.next('ssh_agent_started')
    expect((await run('ssh-add -l')).code).toBe(0)
    // Only the listener is left, once the program's connection is over.
    await expect.poll(() => agent().callCount).toBe(1)
    await socket.close()
  })

  test('after a lost connection the next one takes its place', async () => {
    const { socket: lost } = await forward(['ssh2'])
    lost.terminate()
    const { socket } = await forward(['ssh2'])
    expect((await run('ssh-add -l')).code).toBe(0)
    await expect.poll(() => agent().callCount).toBe(1)
    await socket.close()
  })

  test('the example client forwards the agent of its machine until it is ended', async () => {
    await connect(await server.socket(ann.token), id)
    const env = { ...process.env, SVC_URL: `http://127.0.0.1:${server.port}`, SVC_TOKEN: ann.token }
    const client = spawn(process.execPath, [FORWARD, id], { env: { ...env, SSH_AUTH_SOCK: laptop.socket } })
    onTestFinished(() => {
      client.kill('SIGKILL')
    })
    const [said] = await once(client.stdout, 'data')
    expect(String(said)).toBe(`forwarded to ${sshAgentSocket(ann.id)}\n`)
    const many = await run('for n in $(seq 8); do (ssh-add -l >/dev/null 2>&1; echo "ended $?") & done; wait')
    expect(many.output.trim().split('\n')).toEqual(Array.from({ length: 8 }, () => 'ended 0'))
    await expect.poll(() => agent().callCount).toBe(1)
    client.kill()
    await expect.poll(async () => (await run('ssh-add -l')).code).toBe(2)
  })
})
