import { readFileSync } from 'node:fs'
import type { Channel } from '@svc/protocol/agent/channels'
import { SERVICE_TERMINAL } from '@svc/protocol/agent/requests'
import { existingDirectory, type Variables } from '../environment.ts'
import { RequestError } from '../request-error.ts'
import type { RequestFields } from '../request-fields.ts'
import type { Workspace } from '../workspace.ts'
import { endSessions } from './end-session.ts'
import { type Program, serviceProgram, shellProgram } from './programs.ts'
import { MAX_COLS, MAX_ROWS, Terminal } from './terminal.ts'

/** More than people can have open; each costs memory. */
const MAX_TERMINALS = 256
/** More than the server writes there. */
const MAX_LABEL_LENGTH = 1024
/** Before anybody has looked at the service. */
const SERVICE_SIZE = { cols: 120, rows: 30 }

/** All terminals of the workspace, whoever watches. */
export class Terminals {
  readonly #workspace: Workspace
  readonly #statusFile: string
  readonly #terminals = new Map<string, Terminal>()
  /** The service left out. */
  #opened = 0

  constructor(parts: { workspace: Workspace; statusFile: string }) {
    this.#workspace = parts.workspace
    this.#statusFile = parts.statusFile
  }

  open(fields: RequestFields): void {
    const id = fields.word('id')
    const size = {
      cols: fields.integer('cols', { min: 1, max: MAX_COLS }),
      rows: fields.integer('rows', { min: 1, max: MAX_ROWS }),
    }
    const env = { ...this.#workspace.env, ...fields.variables('env') }
    const cwd = existingDirectory(fields.word('cwd'), env)
    const label = labelIn(fields)
    if (id === '' || id.length > 128) throw new RequestError('bad_request', 'id must have 1 to 128 characters')
    if (this.#terminals.has(id)) throw new RequestError('exists', 'There is a terminal of that name already')
    if (this.#terminals.size >= MAX_TERMINALS) {
      throw new RequestError('too_many', 'There are too many terminals in this workspace: close one first')
    }
    this.#start(id, shellProgram(env), { ...size, env, cwd, label })
    this.#opened++
  }

  /** Once for each container; what it was stays until its shell is closed. */
  startService(command: string): void {
    const { env } = this.#workspace
    const program = serviceProgram(command, this.#statusFile)
    this.#start(SERVICE_TERMINAL, program, { ...SERVICE_SIZE, env, cwd: existingDirectory('', env), label: '' })
  }

  async attach(fields: RequestFields, channel: Channel): Promise<void> {
    const from = fields.has('from') ? fields.integer('from', { min: 0, max: Number.MAX_SAFE_INTEGER }) : undefined
    const isLossy = fields.flag('lossy')
    await this.#require(fields).attach(channel, { from, isLossy })
  }

  list(channel: Channel): void {
    const terminals = [...this.#terminals.values()].map(({ info }) =>
      info.id === SERVICE_TERMINAL ? { ...info, exit_code: this.#serviceStatus() } : info,
    )
    channel.message({ type: 'terminals', terminals, opened: this.#opened })
  }

  label(fields: RequestFields): void {
    const label = labelIn(fields)
    this.#require(fields).label = label
  }

  /** It is gone from now on, whoever asks. What runs in it may take a moment to end. */
  close(fields: RequestFields): void {
    const id = fields.text('id')
    this.#terminals.get(id)?.close()
    this.#terminals.delete(id)
  }

  /** The workspace ends. */
  hangUpAll(): void {
    endSessions([...this.#terminals.values()].map(({ info }) => info.pid))
  }

  #require(fields: RequestFields): Terminal {
    const terminal = this.#terminals.get(fields.text('id'))
    if (!terminal) throw new RequestError('not_found', 'That terminal is no longer open')
    return terminal
  }

  #start(
    id: string,
    program: Program,
    options: { cols: number; rows: number; env: Variables; cwd: string; label: string },
  ): void {
    const { cols, rows, cwd, label } = options
    const env = { ...options.env, TERM: 'xterm-256color', COLORTERM: 'truecolor', PWD: cwd }
    const terminal = new Terminal({
      id,
      label,
      program: { ...program, env, cwd },
      cols,
      rows,
      ended: () => {
        // One that was closed may have a successor of its name by now.
        if (this.#terminals.get(id) === terminal) this.#terminals.delete(id)
      },
    })
    this.#terminals.set(id, terminal)
  }

  /** Null while the command runs. The file is there a moment before its content. */
  #serviceStatus(): number | null {
    try {
      const text = readFileSync(this.#statusFile, 'utf8')
      return /^\d{1,3}$/.test(text) ? Number(text) : null
    } catch {
      return null
    }
  }
}

function labelIn(fields: RequestFields): string {
  const label = fields.text('label')
  if (label.length > MAX_LABEL_LENGTH) {
    throw new RequestError('bad_request', `label must have at most ${MAX_LABEL_LENGTH} characters`)
  }
  return label
}
