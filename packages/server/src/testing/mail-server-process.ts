import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { MailServerAnswer, MailServerOptions, MailServerRequest, ReceivedMail } from './mail-server-messages.ts'

// A real SMTP server that keeps what it is sent. `mail-server.ts` starts it, and talks to it by process messages.

const options: MailServerOptions = JSON.parse(process.argv[2] ?? '{}')
const received: ReceivedMail[] = []
const arrivals: (() => void)[] = []
const state: { mode: 'accept' | 'refuse' | 'hang' } = { mode: 'accept' }

const encryption: SMTPServerOptions =
  options.tls === 'none' ? { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] } : { ...options.certificate }
const signIn: SMTPServerOptions = options.user ? {} : { authOptional: true, disabledCommands: ['AUTH'] }

const server = new SMTPServer({
  ...encryption,
  ...signIn,
  disabledCommands: [...(encryption.disabledCommands ?? []), ...(signIn.disabledCommands ?? [])],
  secure: options.tls === 'implicit',
  allowInsecureAuth: options.tls === 'none',
  disableReverseLookup: true,
  closeTimeout: 1,
  onConnect(_session, callback) {
    if (state.mode !== 'hang') callback()
  },
  onAuth({ username, password }, _session, callback) {
    if (username === options.user && password === options.password) callback(null, { user: username })
    else callback(refusal(535, 'wrong name or password'))
  },
  onMailFrom(_address, _session, callback) {
    callback(state.mode === 'refuse' ? refusal(451, 'not now') : null)
  },
  onRcptTo({ address }, _session, callback) {
    callback(options.refuse.includes(address) ? refusal(550, 'no such mailbox') : null)
  },
  async onData(stream, { envelope, secure, user }, callback) {
    const raw = await text(stream)
    received.push({
      from: envelope.mailFrom ? envelope.mailFrom.address : '',
      to: envelope.rcptTo.map(({ address }) => address),
      raw,
      secure,
      user: typeof user === 'string' ? user : undefined,
    })
    callback()
    for (const look of arrivals.splice(0)) look()
  },
})

// A client that gives up, or does not trust us, is what some tests are about.
server.on('error', () => undefined)
server.listen(options.port, '127.0.0.1', () => {
  const address = server.server.address()
  answer({ id: 0, port: typeof address === 'object' && address ? address.port : 0 })
})

process.on('message', (request: MailServerRequest) => {
  if (request.do === 'clear') received.length = 0
  if (request.do === 'setMode') state.mode = request.mode
  if (request.do === 'waitFor') waitFor(request)
  else answer({ id: request.id, mails: received })
})
// Nobody is left to ask us anything.
process.on('disconnect', () => process.exit())

/** Answers with the first mail to that address which no earlier question was answered with. */
function waitFor(request: Extract<MailServerRequest, { do: 'waitFor' }>): void {
  const mail = received.find(({ to, handedOut }) => to.includes(request.to) && !handedOut)
  if (mail) {
    mail.handedOut = true
    answer({ id: request.id, mails: [mail] })
  } else arrivals.push(() => waitFor(request))
}

function answer(message: MailServerAnswer): void {
  process.send?.(message)
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}
