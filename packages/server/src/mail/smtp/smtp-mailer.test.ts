import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { hasOpenssl, makeCertificate } from '../../testing/certificate.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { startMailServer } from '../../testing/mail-server.ts'
import { MailFailed } from '../mail.ts'
import type { OutgoingMessage } from '../mailer.ts'
import { encryptionFor, SMTP_TIMEOUTS, SmtpMailer, type SmtpServer, type SmtpTimeouts } from './smtp-mailer.ts'

const message: OutgoingMessage = {
  from: 'The Workbench <workbench@example.com>',
  replyTo: 'help@example.com',
  to: 'ada@example.org',
  subject: 'Grüße für Ada',
  text: 'Hello\nhttps://svc.example.com/#/verify?token=abc\n.\nBye',
  html: '<p>Hello</p>',
}

const account = { user: 'workbench@example.com', password: 'pass word/ümlaut' }

function mailer(
  server: Pick<SmtpServer, 'host' | 'port'> & Partial<SmtpServer>,
  parts: { ca?: string | undefined; timeouts?: Partial<SmtpTimeouts>; clock?: FakeClock } = {},
) {
  return new SmtpMailer({
    server: { encryption: 'none', signIn: undefined, ...server, host: server.host, port: server.port },
    clock: parts.clock ?? systemClock,
    ca: parts.ca,
    timeouts: { ...SMTP_TIMEOUTS, ...parts.timeouts },
  })
}

const HANG_UP = 'hang up'

/** A server that says what the test wants; `answer` gets each line it is sent. `HANG_UP` ends the connection. */
async function startScriptedServer(greeting: string, answer: (line: string) => string) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    const say = (words: string) => (words === HANG_UP ? socket.end() : socket.write(words))
    say(greeting)
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      for (const line of chunk.split('\r\n').filter(Boolean)) if (!socket.writableEnded) say(answer(line))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  return { host: '127.0.0.1', port: typeof address === 'object' && address ? address.port : 0 }
}

const failure = async (work: Promise<void>): Promise<MailFailed> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof MailFailed)) throw new Error(`not refused with MailFailed: ${String(error)}`)
  return error
}

test.each([
  { port: 465, useTls: true, encryption: 'implicit' },
  { port: 587, useTls: true, encryption: 'starttls' },
  { port: 25, useTls: true, encryption: 'starttls' },
  { port: 25, useTls: false, encryption: 'none' },
  { port: 465, useTls: false, encryption: 'none' },
])('port $port with TLS $useTls is encrypted as $encryption', ({ port, useTls, encryption }) => {
  expect(encryptionFor({ port, useTls })).toBe(encryption)
})

test.skipIf(!hasOpenssl()).each([
  { tls: 'none', encryption: 'none', secure: false },
  { tls: 'starttls', encryption: 'starttls', secure: true },
  { tls: 'implicit', encryption: 'implicit', secure: true },
] as const)('a letter arrives whole, over $encryption', async ({ tls, encryption, secure }) => {
  await using server = await startMailServer({ tls })
  await mailer({ host: server.host, port: server.port, encryption }, { ca: server.ca }).deliver(message)
  const mail = await server.waitFor('ada@example.org')
  expect(mail).toMatchObject({
    secure,
    from: 'workbench@example.com',
    subject: 'Grüße für Ada',
    text: message.text,
    html: message.html,
    link: 'https://svc.example.com/#/verify?token=abc',
  })
  expect(mail.headers).toMatchObject({
    from: 'The Workbench <workbench@example.com>',
    to: 'ada@example.org',
    'reply-to': 'help@example.com',
    'auto-submitted': 'auto-generated',
  })
})

test('international domains go over the wire in their ASCII form', async () => {
  const said: string[] = []
  const server = await startScriptedServer('220 plain\r\n', (line) => {
    said.push(line)
    return line.startsWith('RCPT') ? '550 enough\r\n' : '250 fine\r\n'
  })
  const international = { ...message, from: 'Büro <office@müller.example>', to: 'ada@grün.example' }
  await failure(mailer(server).deliver(international))
  expect(said).toContain('MAIL FROM:<office@xn--mller-kva.example>')
  expect(said).toContain('RCPT TO:<ada@xn--grn-ioa.example>')
})

test.skipIf(!hasOpenssl()).each(['starttls', 'implicit'] as const)(
  'a certificate nobody vouches for is refused, over %s',
  async (tls) => {
    await using server = await startMailServer({ tls })
    const { cert } = await makeCertificate()
    for (const ca of [undefined, cert]) {
      const refused = await failure(
        mailer({ host: server.host, port: server.port, encryption: tls }, { ca }).deliver(message),
      )
      expect(refused.message).toBe('There is no trusted, encrypted connection to the mail server')
    }
    expect(await server.messages()).toEqual([])
  },
)

test.each(['starttls', 'implicit'] as const)('a certificate for another name is refused, over %s', async (tls) => {
  await using server = await startMailServer({ tls })
  const named = mailer({ host: 'localhost', port: server.port, encryption: tls }, { ca: server.ca })
  expect((await failure(named.deliver(message))).message).toMatch(/no trusted, encrypted connection/)
  expect(await server.messages()).toEqual([])
})

test('a server that cannot encrypt gets nothing when encryption is asked for', async () => {
  await using server = await startMailServer({ tls: 'none', ...account })
  const { host, port } = server
  const refused = await failure(mailer({ host, port, encryption: 'starttls', signIn: account }).deliver(message))
  expect(refused.message).toMatch(/no trusted, encrypted connection/)
  expect(await server.messages()).toEqual([])
})

test.skipIf(!hasOpenssl())('without encryption the STARTTLS a server offers is left alone', async () => {
  await using server = await startMailServer({ tls: 'starttls' })
  await mailer({ host: server.host, port: server.port, encryption: 'none' }).deliver(message)
  expect(await server.waitFor('ada@example.org')).toMatchObject({ secure: false })
})

test.skipIf(!hasOpenssl())('the right name and password are signed in', async () => {
  await using server = await startMailServer({ tls: 'starttls', ...account })
  const { host, port, ca } = server
  await mailer({ host, port, encryption: 'starttls', signIn: account }, { ca }).deliver(message)
  expect(await server.waitFor('ada@example.org')).toMatchObject({ user: account.user, secure: true })
})

test('a wrong password is refused, and is not in the error', async () => {
  await using server = await startMailServer(account)
  const { host, port } = server
  const wrong = { ...account, password: 'not the password' }
  const refused = await failure(mailer({ host, port, signIn: wrong }).deliver(message))
  expect(refused.message).toBe('The mail server refused our sign-in (535)')
  expectNoSecret(refused, wrong)
})

test('a server that wants a sign-in refuses a letter without one', async () => {
  await using server = await startMailServer(account)
  const refused = await failure(mailer({ host: server.host, port: server.port }).deliver(message))
  expect(refused.message).toBe('The mail server refused the sender or the recipient (530)')
})

test('a server that offers no sign-in is refused when one is set', async () => {
  await using server = await startMailServer()
  const refused = await failure(mailer({ host: server.host, port: server.port, signIn: account }).deliver(message))
  expect(refused.message).toBe('The mail server offers no sign-in')
  expect(await server.messages()).toEqual([])
})

test.each(['PLAIN', 'LOGIN'])(
  'a server that repeats an AUTH %s does not get the password into the error',
  async (method) => {
    const server = await startScriptedServer('220 echo\r\n', (line) => {
      if (line.startsWith('EHLO')) return `250-echo\r\n250 AUTH ${method}\r\n`
      if (line === 'AUTH LOGIN') return '334 VXNlcm5hbWU6\r\n'
      if (line === Buffer.from(account.user).toString('base64')) return '334 UGFzc3dvcmQ6\r\n'
      return `535 I do not understand ${line} (or ${account.password})\r\n`
    })
    const refused = await failure(mailer({ ...server, signIn: account }).deliver(message))
    expect(refused.message).toBe('The mail server refused our sign-in (535)')
    expect(refused.cause).toMatchObject({ message: expect.stringContaining('I do not understand') })
    expectNoSecret(refused, account)
  },
)

test('a refusal that quotes the link does not get it into the error', async () => {
  const server = await startScriptedServer('220 filter\r\n', (line) => {
    if (line === 'DATA') return '354 go on\r\n'
    if (line === '.') return '554 5.7.1 https://svc.example.com/#/verify?token=abc is on a block list\r\n'
    return /^(EHLO|MAIL|RCPT)/.test(line) ? '250 fine\r\n' : ''
  })
  const refused = await failure(mailer(server).deliver(message))
  expect(refused.message).toBe('The mail server refused the letter (554)')
  expect(refused.cause).toMatchObject({ message: expect.stringContaining('*** is on a block list') })
  expect(textOf(refused)).not.toMatch(/token=|svc\.example\.com/)
})

test('a recipient the server does not know is a failure', async () => {
  await using server = await startMailServer({ refuse: ['ada@example.org'] })
  const refused = await failure(mailer({ host: server.host, port: server.port }).deliver(message))
  expect(refused.message).toBe('The mail server refused the sender or the recipient (550)')
})

test('a server that refuses everything takes letters again later', async () => {
  await using server = await startMailServer()
  const out = mailer({ host: server.host, port: server.port })
  await server.setMode('refuse')
  expect((await failure(out.deliver(message))).message).toMatch(/\(451\)$/)
  await server.setMode('accept')
  await out.deliver(message)
  expect(await server.messages()).toHaveLength(1)
  await server.clear()
  expect(await server.messages()).toEqual([])
})

test('a server that never greets is given up', async () => {
  await using server = await startMailServer()
  await server.setMode('hang')
  const impatient = mailer({ host: server.host, port: server.port }, { timeouts: { connectMs: 100 } })
  expect((await failure(impatient.deliver(message))).message).toBe('The mail server did not answer in time')
})

test('a server that falls silent is given up', async () => {
  const server = await startScriptedServer('220 tired\r\n', (line) => (line.startsWith('EHLO') ? '250 fine\r\n' : ''))
  const impatient = mailer(server, { timeouts: { silenceMs: 100 } })
  expect((await failure(impatient.deliver(message))).message).toBe('The mail server did not answer in time')
})

test('a server that talks on and on is given up when the whole time is over', async () => {
  const clock = new FakeClock()
  const asked = Promise.withResolvers<void>()
  const server = await startScriptedServer('220 chatty\r\n', (line) => {
    if (line.startsWith('MAIL')) asked.resolve()
    return line.startsWith('EHLO') ? '250 fine\r\n' : '250-and\r\n'
  })
  const delivery = failure(mailer(server, { clock }).deliver(message))
  await asked.promise
  clock.advance(SMTP_TIMEOUTS.totalMs)
  expect((await delivery).message).toBe('The mail server took too long')
})

test.each(['EHLO', 'AUTH', 'MAIL', 'RCPT', 'DATA', '.'])(
  'a server that hangs up at %s is a failure at once',
  async (at) => {
    const server = await startScriptedServer('220 moody\r\n', (line) => {
      if (line.startsWith(at)) return HANG_UP
      if (line.startsWith('EHLO')) return '250-moody\r\n250 AUTH PLAIN\r\n'
      if (line.startsWith('AUTH')) return '235 fine\r\n'
      if (line === 'DATA') return '354 go on\r\n'
      return /^(MAIL|RCPT)/.test(line) ? '250 fine\r\n' : ''
    })
    const refused = await failure(mailer({ ...server, signIn: account }).deliver(message))
    expect(refused.message).toMatch(/closed the connection|cannot be reached/)
  },
)

test('a server that hangs up in place of a greeting is a failure at once', async () => {
  const server = await startScriptedServer(HANG_UP, () => '')
  expect((await failure(mailer(server).deliver(message))).message).toMatch(/closed the connection/)
})

test('nobody listening is a failure', async () => {
  const server = await startMailServer()
  const { host, port } = server
  await server[Symbol.asyncDispose]()
  expect((await failure(mailer({ host, port }).deliver(message))).message).toBe('The mail server cannot be reached')
})

test.each([
  ['a second recipient', { to: 'ada@example.org, eve@example.net' }, 'The recipient is not a plain mail address'],
  ['a name', { to: 'Eve <eve@example.net>' }, 'The recipient is not a plain mail address'],
  ['a header in the recipient', { to: 'ada@example.org\r\nBcc: eve@example.net' }, 'The recipient has a line break'],
  [
    'a command in the recipient',
    { to: 'ada@example.org>\nRCPT TO:<eve@example.net' },
    'The recipient has a line break',
  ],
  ['a header in the subject', { subject: 'Hello\r\nBcc: eve@example.net' }, 'The subject has a line break'],
  ['a lone line feed in the subject', { subject: 'Hello\n\nMy own text' }, 'The subject has a line break'],
  ['a header in the sender', { from: 'a@example.com\r\nBcc: eve@example.net' }, 'The sender has a line break'],
  ['a header in the reply address', { replyTo: 'a@example.com\nX: y' }, 'The reply address has a line break'],
  ['a reply address that is none', { replyTo: 'Help' }, 'The reply address of our mail is not an address'],
  ['a sender without an address', { from: 'The Workbench' }, 'The sender of our mail is not an address'],
])('%s is refused before anything is sent', async (_, changed, sentence) => {
  const nobody = mailer({ host: '127.0.0.1', port: 1 })
  expect((await failure(nobody.deliver({ ...message, ...changed }))).message).toContain(sentence)
})

function expectNoSecret(error: Error, { user, password }: { user: string; password: string }): void {
  const text = textOf(error)
  expect(text).not.toContain(password)
  expect(text).not.toContain(Buffer.from(password).toString('base64'))
  expect(text).not.toContain(Buffer.from(`\0${user}\0${password}`).toString('base64'))
}

/** All that a log could print of an error. */
function textOf(error: Error): string {
  const { cause } = error
  const more = cause instanceof Error ? [cause.stack, JSON.stringify(cause)] : [String(cause)]
  return [error.message, error.stack, JSON.stringify(error), ...more].join('\n')
}
