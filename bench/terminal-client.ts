/** A client of `/ws`, started by `client-process.ts`: does what it is asked to, one thing after the other. */
import { FLOOD_FILE, floodBytes } from './flood-text.ts'
import { typeKeys } from './keystrokes.ts'
import { type Door, TerminalSocket } from './terminal-socket.ts'

const KEYS = 1000
const sockets: TerminalSocket[] = []
/** Made at the first flood. */
let expected: Buffer | undefined

export type Job =
  /** Opens so many sockets, each with a window of its own. */
  | { readonly work: 'open'; readonly door: Door; readonly count: number }
  /** Milliseconds from keys to their echo, in the window that was opened first. */
  | { readonly work: 'type' }
  /** Megabytes in a second. Fails when a byte is missing or wrong. */
  | { readonly work: 'flood' }

const work = {
  open: async ({ door, count }: Extract<Job, { work: 'open' }>) => {
    for (let n = 0; n < count; n++) sockets.push(await TerminalSocket.open(door, `w${process.pid}-${n}`))
    return []
  },
  type: async () => {
    const socket = first()
    socket.type('stty -echo; PS1=; echo re""ady; stty echo; cat\r')
    await socket.shows('ready\r\n')
    const keyboard = { type: (key: string) => socket.type(key), echoed: () => nextOutput(socket) }
    const times = await typeKeys(keyboard, KEYS)
    socket.type('\x03')
    return times
  },
  flood: async () => {
    const socket = first()
    expected ??= floodBytes()
    const all = expected
    const isOver = Promise.withResolvers<void>()
    let before = ''
    let position: number | undefined
    const check = (bytes: Uint8Array) => {
      const from = position ?? 0
      const part = all.subarray(from, from + bytes.length)
      position = from + part.length
      if (Buffer.compare(bytes.subarray(0, part.length), part) !== 0) isOver.reject(new Error(`wrong at ${position}`))
      else if (position === all.length) isOver.resolve()
    }
    socket.output = (bytes) => {
      if (position !== undefined) return check(bytes)
      before += Buffer.from(bytes).toString('latin1')
      const [, flood] = before.split('begins\r\n')
      if (flood !== undefined) check(Buffer.from(flood, 'latin1'))
    }
    const startedMs = performance.now()
    socket.type(`echo be""gins; cat ${FLOOD_FILE}\r`)
    await isOver.promise
    return [all.length / 1000 / (performance.now() - startedMs)]
  },
}

process.on('message', (job: Job) => {
  const done = job.work === 'open' ? work.open(job) : work[job.work]()
  done.then(
    (figures) => process.send?.({ figures }),
    (error: unknown) => process.send?.({ failure: String(error) }),
  )
})

// Whoever measures has ended, or failed.
process.on('disconnect', () => process.exit())

function first(): TerminalSocket {
  const [socket] = sockets
  if (!socket) throw new Error('no window is open')
  return socket
}

function nextOutput(socket: TerminalSocket): Promise<void> {
  return new Promise((resolve) => {
    socket.output = () => resolve()
  })
}
