import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { packed, rawMember } from './tar-blocks.ts'

/** Debian's package. Others call the program `registry`, which says too little to look for. */
const PROGRAM = '/usr/bin/docker-registry'
const TYPE = 'application/vnd.docker'

/** Why there can be no registry here; undefined when there can. */
export const registryMissing = existsSync(PROGRAM) ? undefined : 'docker-registry is not installed'

/** A real registry for one test file, on loopback, without encryption and open to everyone. */
export interface ImageRegistry {
  /** Host and port, as names of images begin. */
  readonly address: string
  /** The same registry, reached so that whoever asks for more of an image than its manifest waits for ever. */
  readonly stuckAddress: string
  /** Resolves when somebody has begun to wait there. */
  readonly stuck: Promise<void>
  /** Puts a small image of a new content there, and answers its repository, without the registry's address. */
  put(...tags: readonly string[]): Promise<string>
  stop(): Promise<void>
}

export async function startImageRegistry(): Promise<ImageRegistry> {
  await using undo = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'svc-registry-'))
  undo.defer(() => rm(folder, { recursive: true }))
  const port = await startProgram(undo, folder)
  const stuck = await startStuck(undo, port)
  const url = `http://127.0.0.1:${port}`
  const opened = undo.move()
  return {
    address: `127.0.0.1:${port}`,
    stuckAddress: `127.0.0.1:${stuck.port}`,
    stuck: stuck.asked,
    async put(...tags) {
      const repository = `svc-test/${randomUUID()}`
      await putImage(`${url}/v2/${repository}`, tags)
      return repository
    },
    stop: () => opened.disposeAsync(),
  }
}

/** Answers the port it chose. */
async function startProgram(undo: AsyncDisposableStack, folder: string): Promise<number> {
  const [configPath, logPath] = [join(folder, 'config.json'), join(folder, 'log')]
  // JSON is YAML too.
  const config = {
    version: 0.1,
    log: { accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, 'storage') } },
    http: { addr: '127.0.0.1:0' },
  }
  await writeFile(configPath, JSON.stringify(config))
  const log = await open(logPath, 'w')
  // Without our environment, whose REGISTRY_ names would change its settings.
  const child = spawn(PROGRAM, ['serve', configPath], { cwd: folder, env: {}, stdio: ['ignore', log.fd, log.fd] })
  const ended = once(child, 'exit')
  await log.close()
  undo.defer(async () => {
    child.kill('SIGKILL')
    await ended
  })
  for (;;) {
    const words = await readFile(logPath, 'utf8')
    const port = /listening on 127\.0\.0\.1:(\d+)/.exec(words)?.[1]
    if (port !== undefined) return Number(port)
    if (child.exitCode !== null) throw new Error(`the registry did not start: ${words}`)
    await wait(20)
  }
}

/** Passes everything on to the registry but questions for what an image is made of. */
async function startStuck(
  undo: AsyncDisposableStack,
  registryPort: number,
): Promise<{ port: number; asked: Promise<void> }> {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const server = createServer(({ method, url, headers }, outgoing) => {
    if (url?.includes('/blobs/')) return resolve()
    const onward = request({ host: '127.0.0.1', port: registryPort, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', (error) => outgoing.destroy(error))
    onward.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  undo.defer(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  const address = server.address()
  return { port: typeof address === 'object' && address ? address.port : 0, asked }
}

/** As a push does it: what the image is made of first, and then what names it. */
async function putImage(repositoryUrl: string, tags: readonly string[]): Promise<void> {
  const layer = packed(rawMember({ name: 'made-for' }, `a test: ${randomUUID()}`))
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: [digestOf(gunzipSync(layer))] },
    }),
  )
  for (const blob of [layer, config]) {
    const begun = await ask(`${repositoryUrl}/blobs/uploads/`, { method: 'POST' })
    const target = new URL(begun.headers.get('location') ?? '', repositoryUrl)
    target.searchParams.set('digest', digestOf(blob))
    await ask(target, { method: 'PUT', body: new Uint8Array(blob) })
  }
  const manifest = {
    schemaVersion: 2,
    mediaType: `${TYPE}.distribution.manifest.v2+json`,
    config: described(config, `${TYPE}.container.image.v1+json`),
    layers: [described(layer, `${TYPE}.image.rootfs.diff.tar.gzip`)],
  }
  const upload = { method: 'PUT', headers: { 'content-type': manifest.mediaType }, body: JSON.stringify(manifest) }
  for (const tag of tags) await ask(`${repositoryUrl}/manifests/${tag}`, upload)
}

async function ask(url: string | URL, options: RequestInit): Promise<Response> {
  const answer = await fetch(url, options)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${options.method} ${url}: ${answer.status} ${text}`)
  return answer
}

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`

const described = (content: Buffer, mediaType: string) => ({
  mediaType,
  size: content.length,
  digest: digestOf(content),
})
