import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The image that `npm run image` makes, as Podman names it. */
export const IMAGE = 'localhost/svc-workspace:latest'

/** The real daemon on Podman, for one person. */
export interface WorkspaceServer {
  /** Unfiltered, as the budget says. */
  create(name: string): Promise<string>
  start(id: string): Promise<void>
  stop(id: string): Promise<void>
  containerOf(id: string): Promise<string>
  /** Of `/api/v1`, without a slash at the end. */
  readonly api: string
  readonly token: string
  readonly pid: number
  end(): Promise<void>
}

export async function startWorkspaceServer(): Promise<WorkspaceServer> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const port = await freePort()
  const env = {
    ...process.env,
    SVCD_STATE_DIR: join(folder, 'state'),
    SVCD_DATA_DIR: join(folder, 'data'),
    SVCD_CONFIG_DIR: join(folder, 'config'),
    SVCD_PORT: String(port),
    SVCD_ENGINE: 'docker',
    SVCD_IMAGE_NAME: IMAGE,
  }
  const server = spawn(join(import.meta.dirname, '../bin/svcd'), { env, stdio: ['ignore', 'pipe', 'ignore'] })
  for await (const chunk of server.stdout) if (String(chunk).includes('ready')) break
  const call = async (method: string, path: string, token?: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Record<string, unknown>
    if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const token = String((await call('POST', '/auth/local')).access_token)
  return {
    create: async (name) => String((await call('POST', '/workspaces', token, { name, egress_mode: 'allow' })).id),
    start: async (id) => void (await call('POST', `/workspaces/${id}/start`, token)),
    stop: async (id) => void (await call('POST', `/workspaces/${id}/stop`, token)),
    containerOf: async (id) => String((await call('GET', `/workspaces/${id}/status`, token)).container_id),
    api: `http://127.0.0.1:${port}/api/v1`,
    token,
    pid: server.pid ?? 0,
    async end() {
      server.kill('SIGTERM')
      await once(server, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  return typeof address === 'object' && address ? address.port : 0
}
