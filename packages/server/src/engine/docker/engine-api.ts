import { Agent, type IncomingMessage, request as send } from 'node:http'
import type { Clock } from '../../kernel/clock.ts'
import { pause } from '../../kernel/pause.ts'
import { isNotUp, wasCut } from '../connection-fault.ts'
import { EngineError } from '../container-engine.ts'

/** Most calls take milliseconds; one that takes this long will not come back. */
const CALL_TIMEOUT_MS = 30_000
/** How long an engine's service may be away (it was restarted, or killed) before a call fails. */
const PATIENCE_MS = 8_000
const FIRST_RETRY_MS = 20
const SLOWEST_RETRY_MS = 500
/** Streams have their own beside these. */
const MOST_CONNECTIONS = 64
/** An answer of ours is a list of containers at most. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly timeoutMs?: number
  /** Heard twice, it does no harm. True for all but POST unless said otherwise. */
  readonly repeatable?: boolean
}

export interface ApiAnswer {
  readonly status: number
  /** Undefined when the answer had no body, or none that is JSON. */
  readonly body: unknown
}

interface ApiParts {
  readonly socketPath: string
  readonly clock: Clock
}

/** The engine's HTTP API on its Unix socket. Answers of any status are answers; only silence is an error here. */
export class EngineApi {
  readonly #parts: ApiParts
  readonly #connections = new Agent({ keepAlive: true, maxSockets: MOST_CONNECTIONS })
  readonly #closing = new AbortController()

  constructor(parts: ApiParts) {
    this.#parts = parts
  }

  async ask(request: ApiRequest): Promise<ApiAnswer> {
    const { status, bytes } = await this.#answer(request)
    return { status, body: parse(bytes) }
  }

  /** For the few answers that are no JSON. */
  async askBytes(request: ApiRequest): Promise<Buffer> {
    return (await this.#answer(request)).bytes
  }

  /** An answer that is read as it comes, until `signal` aborts, on a connection of its own. */
  async stream(request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      const ended = AbortSignal.any([signal, this.#closing.signal])
      return await this.#patiently(request, ended, () => this.#send(request, ended, false))
    } catch (cause) {
      throw this.#unavailable('does not answer', cause)
    }
  }

  close(): void {
    this.#closing.abort()
    this.#connections.destroy()
  }

  async #answer(request: ApiRequest): Promise<{ status: number; bytes: Buffer }> {
    const { clock } = this.#parts
    const timeout = new AbortController()
    const cancel = clock.after(request.timeoutMs ?? CALL_TIMEOUT_MS, () => timeout.abort())
    const signal = AbortSignal.any([timeout.signal, this.#closing.signal])
    try {
      return await this.#patiently(request, signal, async () => {
        const response = await this.#send(request, signal, this.#connections)
        return { status: response.statusCode ?? 0, bytes: await readAll(response) }
      })
    } catch (cause) {
      throw this.#unavailable(timeout.signal.aborted ? 'did not answer in time' : 'does not answer', cause)
    } finally {
      cancel()
    }
  }

  /** A service that is away is waited for. A call that may have arrived is repeated only when that does no harm. */
  async #patiently<T>(request: ApiRequest, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const { clock } = this.#parts
    const giveUpAtMs = clock.nowMs() + PATIENCE_MS
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, SLOWEST_RETRY_MS)) {
      try {
        return await call()
      } catch (error) {
        const mayRepeat = isNotUp(error) || (wasCut(error) && (request.repeatable ?? request.method !== 'POST'))
        if (!mayRepeat || signal.aborted || clock.nowMs() + delayMs > giveUpAtMs) throw error
        await pause(clock, delayMs, signal)
      }
    }
  }

  #send(
    { method, path, query, body }: ApiRequest,
    signal: AbortSignal,
    agent: Agent | false,
  ): Promise<IncomingMessage> {
    const search = query ? `?${new URLSearchParams(query)}` : ''
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    return new Promise((resolve, reject) => {
      const outgoing = send({
        socketPath: this.#parts.socketPath,
        agent,
        method,
        path: `${path}${search}`,
        headers: {
          host: 'engine',
          ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
        },
        signal,
      })
      outgoing.on('response', resolve).on('error', reject)
      outgoing.end(payload)
    })
  }

  #unavailable(what: string, cause: unknown): EngineError {
    if (cause instanceof EngineError) return cause
    return new EngineError('unavailable', `the container engine at ${this.#parts.socketPath} ${what}`, { cause })
  }
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined // plain text, from a proxy before the engine for one; the status says enough
  }
}
