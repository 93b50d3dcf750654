import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mailDefaults } from '../../testing/mail-settings.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { scratchFolder } from '../../testing/start-daemon.ts'
import type { Letter } from '../mail.ts'
import type { MailSettings } from '../mail-settings.ts'
import { renderLetter } from './render-letter.ts'

const link = 'https://svc.example.com/base/#/verify?token=a.b-c_d&x=1'
const letters: Letter[] = [
  { kind: 'verify', link, lifeHours: 72 },
  { kind: 'reset', link, lifeHours: 1 },
  { kind: 'invite', link, lifeHours: 168, inviterEmail: 'grace@example.com' },
  { kind: 'email-changed' },
]
const [verify, reset, invite, emailChanged] = letters as [Letter, Letter, Letter, Letter]

async function render(letter: Letter, settings: Partial<MailSettings> = {}) {
  const log = new MemoryLog()
  const branding = { ...mailDefaults, ...settings }
  return { ...(await renderLetter(letter, { branding, folder: settings.templatesDir, log })), log: log.records }
}

test.each(letters)('a built-in $kind letter has no mistakes, with and without every setting', async (letter) => {
  const everything = {
    logoUrl: 'https://cdn.example.com/logo.png',
    termsUrl: 'https://example.com/terms',
    privacyUrl: 'https://example.com/privacy',
    aupUrl: 'https://example.com/aup',
    supportUrl: 'https://example.com/help',
    supportEmail: 'help@example.com',
  }
  for (const settings of [{}, everything]) {
    const { subject, text, html, log } = await render(letter, { productName: 'Workbench', ...settings })
    expect(log).toEqual([])
    for (const part of [subject, text, html]) {
      expect(part).toContain('Workbench')
      expect(part).not.toMatch(/[{}]{2}|undefined/)
    }
    expect(subject).not.toMatch(/[\r\n]|https?:|@/)
    for (const url of Object.values(settings)) expect(html).toContain(url)
    for (const [name, url] of Object.entries(settings)) if (name !== 'logoUrl') expect(text).toContain(url)
  }
})

test.each([verify, reset, invite])(
  'a $kind letter has its link as text, and says what to do about it',
  async (letter) => {
    const { text, html } = await render(letter)
    expect(text).toContain(`\n${link}\n`)
    const escaped = link.replaceAll('&', '&amp;')
    expect(html.split(`href="${escaped}"`)).toHaveLength(3)
    expect(html).toContain(`>${escaped}</a>`)
    for (const part of [text, html]) {
      expect(part).toMatch(/ignore this mail/)
      expect(part).toMatch(/Nobody from svc will ever ask you for it/)
    }
  },
)

test('the life of a link is told in hours', async () => {
  expect((await render(verify)).text).toContain('within 72 hours.')
  expect((await render(reset)).text).toContain('within 1 hour.')
  expect((await render(reset)).html).toContain('within 1 hour.')
})

test('an invitation names who invites', async () => {
  const { subject, text, html } = await render(invite)
  expect(text).toContain('grace@example.com invites you to svc.')
  expect(html).toContain('grace@example.com')
  expect(subject).not.toContain('grace')
})

test('a letter about a changed address has no link and asks to tell somebody', async () => {
  const { text, html } = await render(emailChanged)
  expect(text).not.toMatch(/https?:/)
  expect(html).not.toMatch(/href=|https?:/)
  expect(text).toContain('tell your administrator')
})

test('the only remote resource is the logo that is set', async () => {
  const remote = (html: string) => html.match(/(?:src|srcset|background)=\S*|url\([^)]*\)|@import\S*|<link\b/g) ?? []
  expect(remote((await render(verify)).html)).toEqual([])
  const withLogo = await render(verify, { logoUrl: 'https://cdn.example.com/logo.png' })
  expect(remote(withLogo.html)).toEqual(['src="https://cdn.example.com/logo.png"'])
})

test.each([
  ['a path, by the address of the link', verify, {}, 'https://svc.example.com/logo.png'],
  ['a path, by the host that is set', emailChanged, { hostingHostname: 'svc.test:81' }, 'https://svc.test:81/logo.png'],
  [
    'a path, by the scheme that is set',
    emailChanged,
    { hostingHostname: 'svc.test', hostingProto: 'http' },
    'http://svc.test/logo.png',
  ],
] as const)('a logo is found by %s', async (_, letter, settings, src) => {
  expect((await render(letter, { logoUrl: '/logo.png', ...settings })).html).toContain(`src="${src}"`)
})

test('without a logo, or without a way to it, there is a badge with the first letter', async () => {
  for (const settings of [{}, { logoUrl: '/logo.png' }]) {
    const { html } = await render(emailChanged, { productName: 'ünder', brandColor: '#123456', ...settings })
    expect(html).toMatch(/background-color:#123456; color:#ffffff;[^>]*>Ü<\/td>/)
    expect(html).not.toContain('<img')
  }
})

test('a hostile product name and inviter are text, in every part', async () => {
  const productName = `"><script>alert(1)</script>{{link}}`
  const hostile: Letter = {
    kind: 'invite',
    link,
    lifeHours: 1,
    inviterEmail: `<img src=x onerror='a'>@example.com\n\nYour code: 123`,
  }
  const { subject, text, html } = await render(hostile, { productName, supportUrl: 'https://x/"onclick="y' })
  expect(html).not.toMatch(/<script|<img|"onclick/)
  expect(html).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{link}}')
  expect(html).toContain('&lt;img src=x onerror=&#39;a&#39;&gt;@example.com')
  expect(subject).toContain('{{link}}')
  expect(text).not.toContain('\n\nYour code')
})

test('a line break in the product name stays in the subject, where it is refused', async () => {
  expect((await render(verify, { productName: 'svc\r\nBcc: eve@example.net' })).subject).toContain('\r\nBcc:')
})

test('the page says its language, its title and that it can be dark', async () => {
  const { subject, html } = await render(verify)
  expect(html).toMatch(/<html lang="en"/)
  expect(html).toContain(`<title>${subject}</title>`)
  expect(html).toContain('<meta name="color-scheme" content="light dark">')
  expect(html).toContain('@media (prefers-color-scheme: dark)')
})

test('each file can be replaced alone, and a change needs no restart', async () => {
  const folder = await scratchFolder()
  const builtIn = await render(verify)
  await writeFile(join(folder, 'verify.subject.txt'), 'Welcome to {{productName}}\n\nnot part of it\n')
  const first = await render(verify, { templatesDir: folder })
  expect(first).toMatchObject({ subject: 'Welcome to svc', text: builtIn.text })
  await writeFile(join(folder, 'verify.html'), '<p>{{link}}</p>')
  await writeFile(join(folder, 'wrapper.html'), '<title>{{subject}}</title>{{content}}')
  const second = await render(verify, { templatesDir: folder })
  expect(second.html).toBe(`<title>Welcome to svc</title><p>${link.replaceAll('&', '&amp;')}</p>`)
  expect(second.log).toEqual([])
  expect((await render(reset, { templatesDir: folder })).text).toBe((await render(reset)).text)
})

test('a folder that does not exist is as good as an empty one', async () => {
  const { text, log } = await render(verify, { templatesDir: join(await scratchFolder(), 'none') })
  expect(text).toContain(link)
  expect(log).toEqual([])
})

test('a mistake in a replacement is told once and renders as nothing', async () => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'verify.txt'), 'Dear {{user}}{{user}}, {{link}}')
  const { text, log } = await render(verify, { templatesDir: folder })
  expect(text).toContain(`Dear , ${link}`)
  expect(log).toMatchObject([{ level: 'WARNING', message: 'mail template verify.txt: there is no value {{user}}' }])
})

test('a subject never gets the link, whatever its file says', async () => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'verify.subject.txt'), 'Open {{link}} {{productName}}')
  const { subject, log } = await render(verify, { templatesDir: folder })
  expect(subject).toBe('Open  svc')
  expect(log).toMatchObject([{ message: 'mail template verify.subject.txt: there is no value {{link}}' }])
})

test('a replacement that cannot be read is told, and the built-in text is used', async () => {
  const folder = await scratchFolder()
  await mkdir(join(folder, 'verify.txt'))
  const { text, log } = await render(verify, { templatesDir: folder })
  expect(text).toContain(link)
  expect(log).toMatchObject([{ level: 'WARNING', message: expect.stringMatching(/verify\.txt: it cannot be read/) }])
})
