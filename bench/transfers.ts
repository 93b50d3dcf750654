import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { BareEngine } from './bare-engine.ts'
import type { Figure } from './figure.ts'
import { percentile } from './statistics.ts'
import { startWorkspaceServer, type WorkspaceServer } from './workspace-server.ts'

const MB = 1e6
const SIZE_MB = 200
const SIZE = SIZE_MB * MB
const ROUNDS = 5
const BUDGET = { at: 'least', ratio: 1.5 } as const
const GROWTH_BUDGET_MB = 40
const FILE = '/home/svc/large'
/** As long as browsers make it. */
const BOUNDARY = '----FormBoundary7MA4YWxkTrZu0gW'
const PIECE = new Uint8Array(64_000).fill(120)

/** A large file to a workspace and back, by HTTP through the server and by `cat` through the engine's exec, in turns. */
export async function transfers(): Promise<Figure[]> {
  const server = await startWorkspaceServer()
  const bare = await new BareEngine().ready()
  const id = await server.create('transfers')
  await server.start(id)
  const container = await server.containerOf(id)
  const our = { up: [] as number[], down: [] as number[] }
  const their = { up: [] as number[], upUnsynced: [] as number[], down: [] as number[] }
  const growths: number[] = []
  for (let round = -1; round < ROUNDS; round++) {
    const memory = new MemoryWatch(server.pid)
    const up = await speed(() => upload(server, id))
    const down = await speed(() => download(server, id))
    const growth = memory.end()
    const bareUpload = (more: string) =>
      speed(() => bare.stream(container, ['sh', '-c', `cat > ${FILE}-2${more}`], pieces()))
    const bareUpUnsynced = await bareUpload('')
    const bareUp = await bareUpload(` && sync ${FILE}-2`)
    const bareDown = await speed(() => bareDownload(bare, container))
    if (round < 0) continue // the first one warms up
    growths.push(growth)
    our.up.push(up)
    our.down.push(down)
    their.up.push(bareUp)
    their.upUnsynced.push(bareUpUnsynced)
    their.down.push(bareDown)
  }
  await server.stop(id)
  await bare.stop()
  await server.end()
  return [
    // Ours is on the disk when it is answered, so theirs is brought there too.
    faster('upload', our.up, their.up, { how: 'cat and sync', also: ` (without sync: ${middle(their.upUnsynced)})` }),
    faster('download', our.down, their.down, { how: 'cat', also: '' }),
    {
      work: `growth of the server's memory meanwhile, at the most of ${ROUNDS}`,
      measured: `${Math.max(...growths).toFixed(0)} MB`,
      baseline: `budget of ${GROWTH_BUDGET_MB} MB`,
      ratio: Math.max(...growths) / GROWTH_BUDGET_MB,
      budget: { at: 'most', ratio: 1 },
    },
  ]
}

function faster(
  what: string,
  ours: readonly number[],
  theirs: readonly number[],
  { how, also }: { how: string; also: string },
): Figure {
  return {
    work: `${what} of a file of ${SIZE_MB} MB, p50 of ${ROUNDS}`,
    measured: middle(ours),
    baseline: `${how} through the engine's exec: ${middle(theirs)}${also}`,
    ratio: percentile(ours, 0.5) / percentile(theirs, 0.5),
    budget: BUDGET,
  }
}

const middle = (speeds: readonly number[]): string => `${percentile(speeds, 0.5).toFixed(0)} MB/s`

/** Megabytes in a second. */
async function speed(transfer: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await transfer()
  return SIZE_MB / ((performance.now() - startedMs) / 1000)
}

function* pieces(): Generator<Uint8Array> {
  for (let left = SIZE; left > 0; left -= PIECE.length) yield left < PIECE.length ? PIECE.subarray(0, left) : PIECE
}

/** A request as it is written, for both alike: a client that does more would be what is measured. */
async function ask(server: WorkspaceServer, head: string, body: Iterable<Uint8Array>): Promise<number> {
  const { hostname, port } = new URL(server.api)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const first = once(socket, 'data')
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  socket.write(`${head} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${server.token}\r\n`)
  for (const piece of body) if (!socket.write(piece)) await once(socket, 'drain')
  const [answer] = (await first) as [Buffer]
  if (!answer.subarray(0, 12).equals(Buffer.from('HTTP/1.1 200'))) throw new Error(answer.toString())
  await once(socket, 'end')
  socket.destroy()
  return bytes
}

async function upload(server: WorkspaceServer, id: string): Promise<void> {
  const before = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="large"\r\n\r\n`
  const after = `\r\n--${BOUNDARY}--\r\n`
  const type = `content-type: multipart/form-data; boundary=${BOUNDARY}\r\n`
  const length = `content-length: ${before.length + SIZE + after.length}\r\n\r\n`
  const form = function* () {
    yield Buffer.from(`${type}${length}${before}`)
    yield* pieces()
    yield Buffer.from(after)
  }
  await ask(server, `POST /api/v1/workspaces/${id}/files/upload?path=${FILE}`, form())
}

async function download(server: WorkspaceServer, id: string): Promise<void> {
  const head = `GET /api/v1/workspaces/${id}/files/download?path=${FILE}`
  const bytes = await ask(server, head, [Buffer.from('\r\n')])
  if (bytes < SIZE) throw new Error(`only ${bytes} bytes came`)
}

async function bareDownload(bare: BareEngine, container: string): Promise<void> {
  const bytes = await bare.stream(container, ['cat', `${FILE}-2`], [])
  if (bytes < SIZE) throw new Error(`only ${bytes} bytes came`)
}

/** How far a process grows at the highest. */
class MemoryWatch {
  readonly #pid: number
  readonly #before: number
  #peak: number
  readonly #timer: NodeJS.Timeout

  constructor(pid: number) {
    this.#pid = pid
    this.#before = this.#residentMb()
    this.#peak = this.#before
    this.#timer = setInterval(() => this.#look(), 20)
  }

  end(): number {
    this.#look()
    clearInterval(this.#timer)
    return this.#peak - this.#before
  }

  #look(): void {
    this.#peak = Math.max(this.#peak, this.#residentMb())
  }

  #residentMb(): number {
    return (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#pid}/status`, 'utf8'))?.[1]) * 1024) / MB
  }
}
