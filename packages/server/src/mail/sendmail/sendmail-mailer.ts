import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import type { Clock } from '../../kernel/clock.ts'
import { compose } from '../compose.ts'
import { MailFailed } from '../mail.ts'
import type { Mailer, OutgoingMessage } from '../mailer.ts'
import { harmlessCause, withoutSecrets } from '../without-secrets.ts'

/** A request waits for the letter it sends, so a program that hangs is ended before a proxy or a person gives up. */
const LIMIT_MS = 30_000
/** So much of a program's complaint is kept; its first lines are the ones that explain. */
const MAX_COMPLAINT_CHARS = 2000
/** `-t`: the recipient is in the message. `-i`: a line with a single dot does not end it. */
const ARGUMENTS = ['-t', '-i']

/** Hands each message to a program of this machine that knows the way, on its standard input. */
export class SendmailMailer implements Mailer {
  readonly #program: string
  readonly #clock: Clock
  readonly #limitMs: number

  constructor(parts: { program: string; clock: Clock; limitMs?: number }) {
    this.#program = parts.program
    this.#clock = parts.clock
    this.#limitMs = parts.limitMs ?? LIMIT_MS
  }

  async deliver(message: OutgoingMessage): Promise<void> {
    const { bytes } = await compose(message, 'lf')
    const child = spawn(this.#program, ARGUMENTS, {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: environment(),
      detached: true, // leads a group of its own, so that what it starts can be ended with it
    })
    const outcome = Promise.withResolvers<void>()
    const complaint = { text: '' }
    const cancel = this.#clock.after(this.#limitMs, () => {
      endGroup(child.pid)
      outcome.reject(new MailFailed('The local mail program took too long'))
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      complaint.text = (complaint.text + chunk).slice(0, MAX_COMPLAINT_CHARS)
    })
    child.stdin.on('error', () => undefined) // it went away before it read everything; its exit status says why
    child.on('error', (error) => {
      outcome.reject(new MailFailed('The local mail program cannot be started', { cause: harmlessCause(error) }))
    })
    // Taken is taken, also while a process left behind for the delivery holds the pipe open.
    child.on('exit', (code) => code === 0 && outcome.resolve())
    child.on('close', (code, signal) => outcome.reject(refusal(code ?? signal, complaint.text)))
    child.stdin.end(bytes)
    try {
      await outcome.promise
    } finally {
      cancel()
      child.stderr.destroy()
    }
  }
}

function refusal(status: number | string | null, complaint: string): MailFailed {
  const cause = complaint === '' ? {} : { cause: new Error(withoutSecrets(complaint.trim())) }
  return new MailFailed(`The local mail program refused the letter (${status})`, cause)
}

/** Only what such a program needs: our own variables hold secrets. */
function environment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: not a setting; a child that is given an environment needs its PATH too.
  const path = process.env.PATH
  // Where systems keep sendmail, which is often not on the path of a service.
  return { PATH: [path, '/usr/sbin', '/usr/lib'].filter(Boolean).join(':'), HOME: homedir() }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended in this very moment.
  }
}
