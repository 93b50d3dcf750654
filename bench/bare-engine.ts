import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const ID_MAP = [{ container_id: 0, host_id: 1_000_000, size: 65_536 }]
const FIRST_PORT = 29_000
const PORTS = 5

const ISOLATED_NETWORK = { driver: 'bridge', dns_enabled: false, options: { isolate: 'true' } }

/** As the driver asks for it. */
const CONFINED = {
  init: true,
  no_new_privileges: true,
  cap_drop: ['all'],
  cap_add: ['CAP_SETUID', 'CAP_SETGID', 'CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_KILL'],
  userns: { nsmode: 'private' },
  idmappings: { UIDMap: ID_MAP, GIDMap: ID_MAP, HostUIDMapping: false, HostGIDMapping: false },
  netns: { nsmode: 'bridge' },
  resource_limits: {
    memory: { limit: 8 * 1024 ** 3, swap: 8 * 1024 ** 3 },
    cpu: { quota: 200_000, period: 100_000 },
    pids: { limit: 16_384 },
  },
  mounts: ['/tmp', '/run', '/var/log'].map((destination) => ({
    type: 'tmpfs',
    destination,
    options: ['rw', 'nosuid', 'nodev', 'size=256m'],
  })),
}

const portsFrom = (first: number) =>
  Array.from({ length: PORTS }, (_, n) => ({
    container_port: 8000 + n,
    host_port: first + n,
    host_ip: '127.0.0.1',
    protocol: 'tcp',
  }))

/** Podman's own API, with nothing of ours in between: what a start, or a command, costs at the least. */
export class BareEngine {
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-bench-engine-'))
  readonly #socketPath = join(this.#folder, 'engine.sock')
  readonly #service: ChildProcess
  readonly #networks = new Map<string, string>()
  #count = 0

  constructor() {
    const args = ['--runtime', 'runc', 'system', 'service', '--time=0', `unix://${this.#socketPath}`]
    this.#service = spawn('podman', args, { stdio: 'ignore' })
  }

  async ready(): Promise<this> {
    const deadline = performance.now() + 10_000
    while (performance.now() < deadline) {
      try {
        await this.#ask('GET', '/v4.0.0/libpod/_ping')
        return this
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    throw new Error('podman does not answer')
  }

  async stop(): Promise<void> {
    this.#service.kill('SIGTERM')
    await once(this.#service, 'exit')
    rmSync(this.#folder, { recursive: true })
  }

  /**
   * Milliseconds from the request to create a container until its shell shows a prompt. `confined`: with the walls
   * that a workspace has, in a network of its own and with ports on the host; otherwise with what the engine does
   * when it is told nothing.
   */
  async startShell(image: string, kind: 'plain' | 'confined'): Promise<{ id: string; took: number }> {
    const startedMs = performance.now()
    const number = ++this.#count
    const network = kind === 'confined' ? `svc-bench-${process.pid}-${number}` : undefined
    if (network) await this.#ask('POST', '/v4.0.0/libpod/networks/create', { ...ISOLATED_NETWORK, name: network })
    const created = await this.#ask('POST', '/v4.0.0/libpod/containers/create', {
      ...(network
        ? { ...CONFINED, networks: { [network]: {} }, portmappings: portsFrom(FIRST_PORT + number * PORTS) }
        : {}),
      image,
      command: ['/bin/bash', '--norc', '-i'],
      terminal: true,
      stdin: true,
      env: { PS1: 'prompt> ' },
      r_limits: [
        { type: 'nofile', hard: 20000, soft: 20000 },
        { type: 'nproc', hard: 32768, soft: 32768 },
      ],
    })
    const id = String(Reflect.get(Object(JSON.parse(created)), 'Id'))
    const prompt = this.#seen(id, 'prompt> ')
    await prompt.attached
    await this.#ask('POST', `/v4.0.0/libpod/containers/${id}/start`)
    await prompt.seen
    const took = performance.now() - startedMs
    if (network) this.#networks.set(id, network)
    return { id, took }
  }

  async remove(id: string): Promise<void> {
    const path = `/v4.0.0/libpod/containers/${id}?force=true&timeout=0`
    // A first try can find its memory still in use, and remove it all the same.
    await this.#ask('DELETE', path).catch(() => this.#ask('DELETE', path).catch(() => undefined))
    const network = this.#networks.get(id)
    if (network) await this.#ask('DELETE', `/v4.0.0/libpod/networks/${network}`)
  }

  /** What a command in a running container wrote, through the engine's own exec. */
  async exec(id: string, command: readonly string[]): Promise<string> {
    const body = { AttachStdout: true, AttachStderr: true, Cmd: command }
    const created = await this.#ask('POST', `/v4.0.0/libpod/containers/${id}/exec`, body)
    const exec = String(Reflect.get(Object(JSON.parse(created)), 'Id'))
    return this.#ask('POST', `/v4.0.0/libpod/exec/${exec}/start`, { Detach: false, Tty: false })
  }

  /** Streams `input` to a command in a running container, and answers how many bytes it wrote; nothing is kept. */
  async stream(id: string, command: readonly string[], input: Iterable<Uint8Array>): Promise<number> {
    const body = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Cmd: command }
    const created = await this.#ask('POST', `/v4.0.0/libpod/containers/${id}/exec`, body)
    const exec = String(Reflect.get(Object(JSON.parse(created)), 'Id'))
    const start = JSON.stringify({ Detach: false, Tty: false })
    const socket = connect({ path: this.#socketPath, allowHalfOpen: true })
    socket.write(
      `POST /v4.0.0/libpod/exec/${exec}/start HTTP/1.1\r\nHost: d\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${start.length}\r\n\r\n${start}`,
    )
    const attached = Promise.withResolvers<void>()
    let bytes = 0
    socket.on('data', (chunk) => {
      attached.resolve()
      bytes += chunk.length
    })
    await attached.promise
    await pipeline(input, socket)
    await once(socket, 'end')
    socket.destroy()
    return bytes
  }

  /** How many bytes a command in a running container wrote, and in which time; nothing is kept. */
  async measure(
    id: string,
    command: readonly string[],
    { hasTerminal: Tty }: { hasTerminal: boolean },
  ): Promise<{ bytes: number; ms: number }> {
    const wish = { AttachStdout: true, AttachStderr: true, Tty, Cmd: command }
    const created = await this.#ask('POST', `/v4.0.0/libpod/containers/${id}/exec`, wish)
    const exec = String(Reflect.get(Object(JSON.parse(created)), 'Id'))
    const start = JSON.stringify({ Detach: false, Tty })
    const socket = connect(this.#socketPath)
    let bytes = 0
    socket.on('data', (chunk) => {
      bytes += chunk.length
    })
    const startedMs = performance.now()
    socket.write(
      `POST /v4.0.0/libpod/exec/${exec}/start HTTP/1.1\r\nHost: d\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${start.length}\r\n\r\n${start}`,
    )
    await once(socket, 'end')
    socket.destroy()
    return { bytes, ms: performance.now() - startedMs }
  }

  #seen(id: string, text: string): { attached: Promise<void>; seen: Promise<void> } {
    const socket = connect(this.#socketPath)
    const attached = Promise.withResolvers<void>()
    const seen = Promise.withResolvers<void>()
    let output = ''
    socket.on('data', (chunk) => {
      output += chunk
      if (output.includes('\r\n\r\n')) attached.resolve()
      if (output.includes(text)) {
        seen.resolve()
        socket.destroy()
      }
    })
    socket.write(
      `POST /v4.0.0/libpod/containers/${id}/attach?stream=true&stdout=true&stdin=true HTTP/1.1\r\n` +
        'Host: d\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n',
    )
    return { attached: attached.promise, seen: seen.promise }
  }

  async #ask(method: string, path: string, body?: unknown): Promise<string> {
    const sent = request({
      socketPath: this.#socketPath,
      method,
      path,
      headers: { 'content-type': 'application/json' },
    }).end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const text = (await response.toArray()).join('')
    if ((response.statusCode ?? 500) >= 400) throw new Error(`${method} ${path}: ${text}`)
    return text
  }
}
