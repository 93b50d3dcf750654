import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { scratchFolder, startDaemon } from '../testing/start-daemon.ts'

// The real daemon, the real engine, and a real application in a container.

const IMAGE = 'localhost/svc-workspace:latest'

function podman(...args: string[]): string | undefined {
  try {
    return execFileSync('podman', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}

const missing = podman('image', 'exists', IMAGE) === undefined

/** Tells the path and the cookie it was asked with, and repeats what it is told on a socket. */
const APPLICATION = `
import base64, hashlib, http.server
class App(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        if self.headers.get('Upgrade'):
            return self.echo()
        body = (self.path + ' ' + str(self.headers.get('Cookie'))).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def echo(self):
        accept = hashlib.sha1((self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode())
        self.send_response(101)
        self.send_header('Upgrade', 'websocket')
        self.send_header('Connection', 'Upgrade')
        self.send_header('Sec-WebSocket-Accept', base64.b64encode(accept.digest()).decode())
        self.end_headers()
        self.close_connection = True
        while head := self.rfile.read(2):
            size = head[1] & 127
            mask, data = self.rfile.read(4), self.rfile.read(size)
            self.wfile.write(bytes([head[0], size]) + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
http.server.ThreadingHTTPServer(('0.0.0.0', 8000), App).serve_forever()
`

async function startServer(env: Record<string, string> = {}) {
  const folder = await scratchFolder()
  // Registered after the folder's own removal, and so done before it.
  onTestFinished(() => {
    const instance = readFileSync(join(folder, 'data', 'instance-id'), 'utf8').trim()
    const filter = `label=svc.instance=${instance}`
    const containers = podman('ps', '-aq', '--filter', filter)?.split('\n').filter(Boolean) ?? []
    if (containers.length > 0) podman('rm', '-f', '-t', '0', ...containers)
    const networks = podman('network', 'ls', '-q', '--filter', filter)?.split('\n').filter(Boolean) ?? []
    if (networks.length > 0) podman('network', 'rm', '-f', ...networks)
  })
  const range = String(25_000 + (process.pid % 5_000))
  const started = await startDaemon(folder, {
    SVCD_ENGINE: 'docker',
    SVCD_IMAGE_NAME: IMAGE,
    SVCD_PORT_RANGE_START: range,
    ...env,
  })
  const { request } = started
  const { access_token: token } = (await request('POST', '/api/v1/auth/local')).json as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await request(method, `/api/v1${path}`, {
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  return { ...started, call, headers }
}

describe.skipIf(missing)('an application in a container', () => {
  test('is used through the server, and by nobody who may not', { timeout: 60_000 }, async () => {
    const server = await startServer()
    const command = `cat > ~/app.py <<'END'\n${APPLICATION}\nEND\npython3 ~/app.py`
    const made = await server.call('POST', '/workspaces', { name: 'a', egress_mode: 'allow', service_command: command })
    const { id } = made.json as { id: string }
    await server.call('POST', `/workspaces/${id}/start`)
    const { ports } = (await server.call('GET', `/workspaces/${id}/status`)).json as { ports: [number, number] }
    const at = (port: number, rest = '') => `/hosted/${id}/${port}/${rest}`

    const granted = await server.call('POST', `/workspaces/${id}/hosted-access`)
    const cookie = granted.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    expect(granted.json).toMatchObject({ ports: ports.map((port, n) => ({ port, container_port: 8000 + n })) })
    const get = (path: string, headers: Record<string, string>) => server.request('GET', path, { headers })
    const ask = async () => (await get(at(ports[0], 'x/%2e%2e/y?z'), { cookie: `a=1; ${cookie}` })).text
    await expect.poll(ask, { timeout: 20_000 }).toBe('/x/%2e%2e/y?z a=1')
    expect((await get(at(ports[0]), {})).status).toBe(401)

    const nothing = await get(at(ports[1]), server.headers)
    expect([nothing.status, nothing.json]).toMatchObject([502, { detail: expect.stringContaining('port 8001') }])

    const socket = new WebSocket(`ws://127.0.0.1:${server.port}${at(ports[0])}`, { headers: { cookie } })
    await once(socket, 'open')
    socket.send('hello')
    expect(String((await once(socket, 'message'))[0])).toBe('hello')

    const closed = once(socket, 'close')
    await server.call('POST', `/workspaces/${id}/stop`)
    await closed
    expect((await get(at(ports[0]), { cookie })).status).toBe(409)
  })
})
