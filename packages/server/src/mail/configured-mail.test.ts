import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorText } from '../logging/error-text.ts'
import { hasOpenssl } from '../testing/certificate.ts'
import { startMailServer } from '../testing/mail-server.ts'
import { mailDefaults } from '../testing/mail-settings.ts'
import { MemoryLog } from '../testing/memory-log.ts'
import { parseMessage } from '../testing/parse-message.ts'
import { scratchFolder } from '../testing/start-daemon.ts'
import { ConfiguredMail } from './configured-mail.ts'
import { type Letter, MailFailed } from './mail.ts'
import type { MailSettings } from './mail-settings.ts'

const link = 'https://svc.example.com/#/verify?token=eyJ.secret.part'
const letter: Letter = { kind: 'verify', link, lifeHours: 72 }
const password = 'correct horse battery'

function configured(initial: Partial<MailSettings>, parts: { ca?: string } = {}) {
  const log = new MemoryLog()
  let settings = { ...mailDefaults, ...initial }
  const mail = new ConfiguredMail({ settings: () => settings, log, ...parts })
  const set = (changed: Partial<MailSettings>) => {
    settings = { ...settings, ...changed }
  }
  return { mail, log, set }
}

/** Everything an operator could read, errors with their causes. */
const printed = (log: MemoryLog) =>
  log.records
    .map(({ message, fields }) => `${message} ${JSON.stringify(fields)} ${errorText(fields.error, (text) => text)}`)
    .join('\n')

test.skipIf(!hasOpenssl())(
  'a letter is rendered, sent by the mail server that is set, and noted without address and link',
  async () => {
    await using server = await startMailServer({ tls: 'starttls', user: 'svc@example.com', password })
    const { mail, log } = configured(
      {
        smtpHost: server.host,
        smtpPort: server.port,
        smtpUser: 'svc@example.com',
        smtpPassword: { reveal: () => password },
        smtpReplyTo: 'help@example.com',
      },
      server.ca === undefined ? {} : { ca: server.ca },
    )
    await mail.send('ada@example.org', letter)
    const arrived = await server.waitFor('ada@example.org')
    expect(arrived).toMatchObject({
      from: 'svc@example.com',
      subject: 'Confirm your email address for svc',
      link,
      secure: true,
      user: 'svc@example.com',
    })
    expect(arrived.headers).toMatchObject({ from: 'svc@example.com', 'reply-to': 'help@example.com' })
    expect(arrived.html).toContain(link)
    expect(log.records).toEqual([
      {
        level: 'INFO',
        logger: 'svcd',
        message: 'mail sent',
        fields: { kind: 'verify', recipient_domain: 'example.org' },
      },
    ])
  },
)

test('a failure is thrown and noted, without address, link and password', async () => {
  await using server = await startMailServer({ user: 'svc@example.com', password: 'another' })
  const { mail, log } = configured({
    smtpHost: server.host,
    smtpPort: server.port,
    smtpUseTls: false,
    smtpUser: 'svc@example.com',
    smtpPassword: { reveal: () => password },
  })
  await expect(mail.send('ada@example.org', letter)).rejects.toThrow(MailFailed)
  expect(log.records).toMatchObject([
    { level: 'WARNING', message: 'mail was not sent', fields: { kind: 'verify', recipient_domain: 'example.org' } },
  ])
  const text = printed(log)
  expect(text).toContain('The mail server refused our sign-in (535)')
  expect(text).not.toContain('ada@')
  expect(text).not.toContain('token=')
  expect(text).not.toContain(password)
  expect(text).not.toContain(Buffer.from(`\0svc@example.com\0${password}`).toString('base64'))
})

test('a name without a password is not signed in', async () => {
  await using server = await startMailServer()
  const { mail } = configured({
    smtpHost: server.host,
    smtpPort: server.port,
    smtpUseTls: false,
    smtpUser: 'svc@example.com',
  })
  await mail.send('ada@example.org', letter)
  expect(await server.waitFor('ada@example.org')).toMatchObject({ from: 'svc@example.com', user: undefined })
})

test('encryption is asked for unless it is turned off', async () => {
  await using server = await startMailServer()
  const { mail, set } = configured({ smtpHost: server.host, smtpPort: server.port })
  await expect(mail.send('ada@example.org', letter)).rejects.toThrow('no trusted, encrypted connection')
  set({ smtpUseTls: false })
  await mail.send('ada@example.org', letter)
  expect(await server.messages()).toHaveLength(1)
})

test('the settings of the moment decide: from sendmail to a mail server and its name on the letter', async () => {
  await using server = await startMailServer()
  const folder = await scratchFolder()
  const sendmailPath = join(folder, 'sendmail')
  await writeFile(sendmailPath, `#!/bin/sh\ncat > "${folder}/message"\n`)
  await chmod(sendmailPath, 0o755)
  const { mail, set } = configured({ sendmailPath, hostingHostname: 'svc.example.com:8443' })
  await mail.send('ada@example.org', letter)
  const local = parseMessage(await readFile(join(folder, 'message'), 'utf8'))
  expect(local.headers.from).toBe('noreply@svc.example.com')
  set({ smtpHost: server.host, smtpPort: server.port, smtpUseTls: false, productName: 'Workbench' })
  await mail.send('ada@example.org', letter)
  expect((await server.waitFor('ada@example.org')).subject).toBe('Confirm your email address for Workbench')
})

test.each([
  ['a recipient', 'ada@example.org\r\nBcc: eve@example.net', {}],
  ['a product name', 'ada@example.org', { productName: 'svc\r\nBcc: eve@example.net' }],
])('%s with a header in it stops the letter', async (_, to, settings) => {
  await using server = await startMailServer()
  const { mail, log } = configured({ smtpHost: server.host, smtpPort: server.port, smtpUseTls: false, ...settings })
  await expect(mail.send(to, letter)).rejects.toThrow('has a line break')
  expect(await server.messages()).toEqual([])
  expect(printed(log)).not.toContain('eve@')
})

test('a missing sendmail is a failure, and says which program in its cause only', async () => {
  const { mail, log } = configured({ sendmailPath: '/nowhere/sendmail' })
  await expect(mail.send('ada@example.org', letter)).rejects.toThrow(/^The local mail program cannot be started$/)
  expect(printed(log)).toContain('spawn /nowhere/sendmail ENOENT')
})
