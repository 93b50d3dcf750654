import { existsSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { parseMessage } from '../../testing/parse-message.ts'
import { scratchFolder } from '../../testing/start-daemon.ts'
import { MailFailed } from '../mail.ts'
import type { OutgoingMessage } from '../mailer.ts'
import { SendmailMailer } from './sendmail-mailer.ts'

const message: OutgoingMessage = {
  from: 'noreply@example.com',
  replyTo: undefined,
  to: 'ada@example.org',
  subject: 'Hello $(touch pwned)',
  text: 'Hello\n.\nBye',
  html: '<p>Hello</p>',
}

/** A program in place of sendmail. It is run in, and may write to, the folder that is `$0`'s. */
async function program(script: string): Promise<{ path: string; folder: string }> {
  const folder = await scratchFolder()
  const path = join(folder, 'sendmail with a space')
  await writeFile(path, `#!/bin/sh\nhere=$(dirname "$0")\n${script}\n`)
  await chmod(path, 0o755)
  return { path, folder }
}

const sendmail = (path: string) => new SendmailMailer({ program: path, clock: systemClock })

test('the program gets -t -i and the whole message on its standard input', async () => {
  const { path, folder } = await program('echo "$@" > "$here/arguments"; cat > "$here/message"')
  await sendmail(path).deliver(message)
  expect(await readFile(join(folder, 'arguments'), 'utf8')).toBe('-t -i\n')
  const raw = await readFile(join(folder, 'message'), 'utf8')
  expect(raw).not.toContain('\r')
  const mail = parseMessage(raw)
  expect(mail).toMatchObject({ subject: message.subject, text: message.text, html: message.html })
  expect(mail.headers).toMatchObject({
    from: 'noreply@example.com',
    to: 'ada@example.org',
    'auto-submitted': 'auto-generated',
  })
  expect(mail.headers).not.toHaveProperty('reply-to')
})

test('the program does not get our variables', async () => {
  const { path, folder } = await program('env > "$here/environment"; cat > /dev/null')
  process.env.SVCD_SMTP_PASSWORD = 'hunter2'
  await sendmail(path).deliver(message)
  delete process.env.SVCD_SMTP_PASSWORD
  expect(await readFile(join(folder, 'environment'), 'utf8')).not.toContain('SVCD_')
})

test('a program that refuses is a failure with its status and its words, without the link', async () => {
  const { path } = await program('cat > /dev/null; echo "bad: https://svc.example.com/#/verify?token=abc" >&2; exit 75')
  await expect(sendmail(path).deliver(message)).rejects.toMatchObject({
    name: 'MailFailed',
    message: 'The local mail program refused the letter (75)',
    cause: new Error('bad: ***'),
  })
})

test('a program that ends without reading is a failure, not a crash', async () => {
  const { path } = await program('exec 0<&-; exit 1')
  const large = { ...message, text: 'much text '.repeat(50_000) }
  await expect(sendmail(path).deliver(large)).rejects.toThrow('refused the letter (1)')
})

test('a program that was killed is a failure', async () => {
  const { path } = await program('kill -9 $$')
  await expect(sendmail(path).deliver(message)).rejects.toThrow('refused the letter (SIGKILL)')
})

test.each(['/nowhere/sendmail', 'no-such-program-at-all', '/etc/passwd'])('%s cannot be started', async (path) => {
  const delivery = sendmail(path).deliver(message)
  await expect(delivery).rejects.toThrow(MailFailed)
  await expect(delivery).rejects.toThrow('The local mail program cannot be started')
})

test('a program that hangs is ended after the limit, with what it started', async () => {
  const { path, folder } = await program('sleep 600 & echo $! > "$here/pid.new"; mv "$here/pid.new" "$here/pid"; wait')
  const clock = new FakeClock()
  const delivery = new SendmailMailer({ program: path, clock }).deliver(message)
  const outcome = expect(delivery).rejects.toThrow('The local mail program took too long')
  await expect.poll(() => existsSync(join(folder, 'pid'))).toBe(true)
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
  clock.advance(30_000)
  await outcome
  await expect.poll(() => isRunning(pid)).toBe(false)
})

test('a process left behind for the delivery does not hold us up', async () => {
  const { path, folder } = await program('cat > /dev/null; sleep 600 & echo $! > "$here/pid"; exit 0')
  await sendmail(path).deliver(message)
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
  expect(await isRunning(pid)).toBe(true)
  process.kill(pid, 'SIGKILL')
})

test('a recipient with a line break never reaches the program', async () => {
  const { path, folder } = await program('touch "$here/called"')
  const injected = { ...message, to: 'ada@example.org\nBcc: eve@example.net' }
  await expect(sendmail(path).deliver(injected)).rejects.toThrow('The recipient has a line break')
  await expect(readFile(join(folder, 'called'))).rejects.toThrow('ENOENT')
})

/** A killed process whose parent has not asked yet is still listed, as a zombie. */
async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return status !== '' && !/\) Z /.test(status)
}
