import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Certificate, makeCertificate } from './certificate.ts'
import type {
  MailServerAnswer,
  MailServerMode,
  MailServerOptions,
  MailServerRequest,
  ReceivedMail,
} from './mail-server-messages.ts'
import { type ParsedMessage, parseMessage } from './parse-message.ts'

const PROGRAM = fileURLToPath(new URL('./mail-server-process.ts', import.meta.url))
/** A letter that has not come by then does not come; less than a test may take, so that the test says so. */
const PATIENCE_MS = 15_000

/** A letter as it arrived: the envelope, and what a person sees of it. */
export interface TestMail extends ParsedMessage {
  /** The recipient of the envelope. */
  readonly to: string
  readonly from: string
  readonly raw: string
  readonly secure: boolean
  readonly user: string | undefined
}

type Question = MailServerRequest extends infer R ? (R extends MailServerRequest ? Omit<R, 'id'> : never) : never

/**
 * A real mail server in a process of its own. For the whole service:
 *
 *     await using mail = await startMailServer()
 *     await using server = await startServer(mail.env)
 *     …
 *     const { link } = await mail.waitFor('ada@example.com')
 *
 * With `tls` other than `none` it has a new certificate for 127.0.0.1, which is `ca` for those who should trust it.
 */
export async function startMailServer(options: Partial<Omit<MailServerOptions, 'certificate'>> = {}) {
  const { tls = 'none' } = options
  const certificate: Certificate | undefined = tls === 'none' ? undefined : await makeCertificate()
  const complete: MailServerOptions = {
    port: options.port ?? 0,
    tls,
    certificate,
    user: options.user,
    password: options.password,
    refuse: options.refuse ?? [],
  }
  // The key of a certificate that lives as long as the test is no secret, so it may be an argument.
  const child = fork(PROGRAM, [JSON.stringify(complete)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, (answer: MailServerAnswer) => void>()
  const exited = once(child, 'exit')
  child.on('message', (answer: MailServerAnswer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  const answerTo = (id: number) => {
    const answered = new Promise<MailServerAnswer>((resolve) => waiting.set(id, resolve))
    const ended = exited.then(() => Promise.reject(new Error('the mail server ended')))
    return Promise.race([answered, ended])
  }
  let lastId = 0
  const ask = async (question: Question): Promise<readonly ReceivedMail[]> => {
    const id = ++lastId
    const answer = answerTo(id)
    child.send({ id, ...question })
    const got = await answer
    return 'mails' in got ? got.mails : []
  }

  const started = await answerTo(0)
  const port = 'port' in started ? started.port : 0
  return {
    host: '127.0.0.1',
    port,
    ca: certificate?.cert,
    /** Settings that make a whole server send its mail here, unencrypted. */
    env: { SVCD_SMTP_HOST: '127.0.0.1', SVCD_SMTP_PORT: String(port), SVCD_SMTP_USE_TLS: 'no' },
    /** Every letter since the start or the last `clear`, the oldest first. */
    messages: async (): Promise<TestMail[]> => (await ask({ do: 'list' })).map(toTestMail),
    /** The next letter to that address which `waitFor` has not given yet; waits until it comes. */
    async waitFor(to: string): Promise<TestMail> {
      const patience = AbortSignal.timeout(PATIENCE_MS)
      const tooLate = once(patience, 'abort').then(() => [])
      const [mail] = await Promise.race([ask({ do: 'waitFor', to }), tooLate])
      if (mail) return toTestMail(mail)
      const others = (await ask({ do: 'list' })).map((other) => other.to)
      throw new Error(`no new mail came for ${to}; there is mail for: ${others.join(', ') || 'nobody'}`)
    },
    async clear(): Promise<void> {
      await ask({ do: 'clear' })
    },
    /** `refuse` turns every letter away, `hang` takes connections and says nothing. */
    async setMode(mode: MailServerMode): Promise<void> {
      await ask({ do: 'setMode', mode })
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

export type TestMailServer = Awaited<ReturnType<typeof startMailServer>>

/** One mail server for all tests of a file, empty and willing before each: `const mail = useMailServer()`. */
export function useMailServer(): () => TestMailServer {
  let server: TestMailServer | undefined
  const started = () => {
    if (!server) throw new Error('the mail server runs only during tests')
    return server
  }
  beforeAll(async () => {
    server = await startMailServer()
  })
  beforeEach(async () => {
    await started().setMode('accept')
    await started().clear()
  })
  afterAll(() => started()[Symbol.asyncDispose]())
  return started
}

function toTestMail({ from, to, raw, secure, user }: ReceivedMail): TestMail {
  return { ...parseMessage(raw), from, to: to.join(', '), raw, secure, user }
}
