import type { Command } from '@svc/protocol/ws/client-frames'

/** What comes out of one seed is always the same, so that a failure can be repeated. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Of each command one that is right. No text has a line end: whatever is typed is never run. */
const rightOnes = (workspaceId: string): Record<Command, Fields> => ({
  hello: { v: 1, client: 'fuzz', caps: ['req'] },
  workspace_connect: { workspaceId },
  workspace_disconnect: {},
  ui_ready: {},
  restart_container: {},
  heartbeat: {},
  terminal_start: { cols: 80, rows: 24, browser_id: 'b', resume: { channel: 1, offset: 5 } },
  terminal_input: { data: 'abc', channel: 3 },
  terminal_resize: { cols: 100, rows: 30 },
  terminal_stop: {},
  terminal_ack: { channel: 1, offset: 100 },
  terminal_new_window: { name: 'term' },
  terminal_select_window: { window_id: '@1', index: 0, resume: { channel: 2, offset: 0 } },
  terminal_close_window: { window_id: '@2' },
  terminal_rename_window: { window_id: '@1', name: 'renamed' },
  terminal_list_windows: {},
  share_window: { window_id: '@1' },
  unshare_window: { window_id: '@1' },
  join_shared_terminal: { user_id: 'somebody', window_id: '@1' },
  leave_shared_terminal: {},
  list_shared_terminals: {},
  create_shared_terminal: { name: 'shared' },
  delete_shared_terminal: { user_id: 'somebody', window_id: '@3' },
  exec_start: { command: ['true'], login: false, exec_id: 'e1', stderr: 'separate', env: { A: 'b' }, timeout_s: 5 },
  exec_input: { exec_id: 'e1', data: 'AAAA' },
  exec_close_stdin: { exec_id: 'e1' },
  exec_signal: { exec_id: 'e1', signal: 'TERM' },
  exec_stop: { exec_id: 'e1' },
  ssh_agent_start: {},
  ssh_agent_data: { data: 'AAAA', conn: 1 },
  ssh_agent_close: { conn: 1 },
  ssh_agent_stop: {},
  subscribe_health_heartbeat: { enabled: true },
})

/** Those that start a process or a container: only so many of them are sent in earnest. */
const BUDGETS: Partial<Record<Command, number>> = {
  workspace_connect: 100,
  workspace_disconnect: 40,
  restart_container: 2,
  terminal_start: 200,
  terminal_new_window: 40,
  terminal_select_window: 100,
  create_shared_terminal: 20,
  exec_start: 100,
  ssh_agent_start: 40,
}

/** Makes messages that are right, nearly right, and nothing at all. */
export class FuzzFrames {
  readonly #random: () => number
  readonly #rightOnes: [string, Fields][]
  readonly #left = new Map<string, number>(Object.entries(BUDGETS))

  constructor(seed: number, workspaceId: string) {
    this.#random = seeded(seed)
    this.#rightOnes = Object.entries(rightOnes(workspaceId))
  }

  next(): string | Uint8Array {
    const kind = this.#below(100)
    if (kind < 10) return this.#bytes(this.#below(64))
    if (kind < 20) return this.#binary()
    if (kind < 25) return this.#text(this.#below(200))
    const frame = this.#frame()
    if (kind < 35) return JSON.stringify(frame)
    if (kind < 45) return this.#damaged(JSON.stringify(frame))
    return JSON.stringify(this.#mutated(frame))
  }

  #frame(): Fields {
    const [cmd, fields] = this.#pick(this.#rightOnes.filter(([name]) => this.#left.get(name) !== 0))
    const left = this.#left.get(cmd)
    if (left !== undefined) this.#left.set(cmd, left - 1)
    return { cmd, req: String(this.#below(1000)), ...fields }
  }

  /** Fields lost, added, or of another kind. */
  #mutated(frame: Fields): Fields {
    const changed: Record<string, unknown> = { ...frame }
    const names = Object.keys(changed)
    for (let change = this.#below(3); change >= 0; change--) {
      const name = this.#pick(names)
      const what = this.#below(4)
      if (what === 0 && name !== 'cmd') delete changed[name]
      else if (what === 1) changed[this.#text(this.#below(20))] = this.#value(3)
      else if (name !== 'cmd' || this.#below(10) === 0) changed[name] = this.#value(3)
    }
    return changed
  }

  /** Cut, doubled or with strange characters in it. */
  #damaged(text: string): string {
    const at = this.#below(text.length)
    switch (this.#below(4)) {
      case 0:
        return text.slice(0, at)
      case 1:
        return text.slice(0, at) + this.#text(this.#below(5)) + text.slice(at)
      case 2:
        return text + text
      default:
        return text.slice(0, at) + text.slice(at + 1)
    }
  }

  #value(depth: number): unknown {
    switch (this.#below(16)) {
      case 0:
        return null
      case 1:
        return this.#below(2) === 0
      case 2:
        return this.#pick([0, -1, 1.5, 65_536, 2 ** 32, 2 ** 53, -(2 ** 53), 1e308, 5e-324])
      case 3:
        return this.#below(1000)
      case 4:
        return ''
      case 5:
        return this.#text(this.#below(50))
      case 6:
        return this.#text(this.#below(5000))
      case 7:
        return this.#pick(['__proto__', 'constructor', 'hello', '@0', '@1', '@99999999999999999999', '..', '/', 'null'])
      case 8:
        return JSON.parse('['.repeat(200) + ']'.repeat(200))
      case 9:
        return JSON.parse('{"__proto__":{"cmd":"heartbeat"},"toString":7}')
      case 10:
        return Array.from({ length: this.#below(100) }, () => this.#below(10))
      default:
        if (depth === 0) return 7
        return this.#below(2) === 0
          ? [this.#value(depth - 1), this.#value(depth - 1)]
          : { [this.#text(this.#below(10))]: this.#value(depth - 1) }
    }
  }

  /** Letters of many scripts, signs, halves of pairs; nothing that a terminal takes for a command. */
  #text(length: number): string {
    let text = ''
    while (text.length < length) {
      const unit = this.#pick([0x20 + this.#below(95), 0xa0 + this.#below(0x1000), 0xd800 + this.#below(0x800), 0xfffd])
      text += String.fromCharCode(unit)
    }
    return text
  }

  #binary(): Uint8Array {
    const bytes = this.#bytes(13 + this.#below(40))
    bytes[0] = this.#below(10)
    if (this.#below(2) === 0) bytes.fill(0, 1, 13)
    for (let at = 13; at < bytes.length; at++) bytes[at] = 0x61 + this.#below(26)
    return bytes
  }

  #bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#below(256))
  }

  #pick<T>(choices: readonly T[]): T {
    const choice = choices[this.#below(choices.length)]
    if (choice === undefined) throw new RangeError('nothing to choose from')
    return choice
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
}
