import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, test } from 'vitest'
import { plainSetup, TestAgent } from '../testing/test-agent.ts'

describe('setup without root', () => {
  test('makes the home from the skeleton, and the token for its user alone', async () => {
    const { agent } = await TestAgent.ready({ setup: { token: 'secret' } })
    await using _ = agent
    expect(readdirSync(agent.home)).toEqual(readdirSync('/etc/skel'))
    const token = `${agent.folder}/runtime/workspace-token`
    expect(readFileSync(token, 'utf8')).toBe('secret')
    expect(statSync(token).mode & 0o777).toBe(0o600)
    expect(statSync(`${agent.folder}/runtime`).mode & 0o777).toBe(0o700)
    expect(readdirSync(`${agent.folder}/homes`)).toEqual(['svc'])
  })

  test('leaves a home that is there as it is', async () => {
    await using agent = await TestAgent.start()
    mkdirSync(agent.home, { recursive: true })
    await (await agent.connect()).ask(plainSetup)
    expect(readdirSync(agent.home)).toEqual([])
  })

  test('a token is replaced at once', async () => {
    const { agent, link } = await TestAgent.ready({ setup: { token: 'first' } })
    await using _ = agent
    await link.ask({ op: 'token.write', token: 'second' })
    expect(readFileSync(`${agent.folder}/runtime/workspace-token`, 'utf8')).toBe('second')
    expect(readdirSync(`${agent.folder}/runtime`)).toEqual(['workspace-token'])
  })

  test('a link in the place of the directory for the token is refused', async () => {
    await using agent = await TestAgent.start()
    mkdirSync(`${agent.folder}/elsewhere`)
    symlinkSync('elsewhere', `${agent.folder}/runtime`)
    const link = await agent.connect()
    expect(await link.call({ ...plainSetup, token: 'secret' }).closed).toMatchObject({ code: 'not_permitted' })
    expect(readdirSync(`${agent.folder}/elsewhere`)).toEqual([])
  })

  test.each([[{ sudo: 1 }], [{ token: 7 }], [{ service_command: undefined }], [{ env: { A: null } }]])(
    'setup with %j is refused and can be asked again',
    async (fields) => {
      await using agent = await TestAgent.start()
      const link = await agent.connect()
      expect(await link.callWith({ ...plainSetup, ...fields }).closed).toMatchObject({ code: 'bad_request' })
      await link.ask(plainSetup)
    },
  )
})

describe('homes of members', () => {
  test('are kept by user id, found by handle, and filled once', async () => {
    const { agent, link } = await TestAgent.ready()
    await using _ = agent
    const homes = `${agent.folder}/homes`
    await link.ask({ op: 'home.prepare', user_id: 'u-1', handle: 'anna' })
    expect(readlinkSync(`${homes}/anna`)).toBe('.users/u-1')
    expect(readdirSync(`${homes}/anna`)).toEqual(readdirSync('/etc/skel'))
    writeFileSync(`${homes}/anna/note`, 'mine')
    await link.ask({ op: 'home.prepare', user_id: 'u-1', handle: 'anna' })
    await link.ask({ op: 'home.prepare', user_id: 'u-1', handle: 'anna.b' })
    expect(existsSync(`${homes}/anna`)).toBe(false)
    expect(readFileSync(`${homes}/anna.b/note`, 'utf8')).toBe('mine')
    await link.ask({ op: 'home.prepare', user_id: 'u-2', handle: 'anna' })
    expect(existsSync(`${homes}/anna/note`)).toBe(false)
    expect(readdirSync(homes)).toEqual(['.users', 'anna', 'anna.b', 'svc'])
  })

  test('a handle that somebody else had leads to the new one, and the old files stay with their owner', async () => {
    const { agent, link } = await TestAgent.ready()
    await using _ = agent
    const homes = `${agent.folder}/homes`
    await link.ask({ op: 'home.prepare', user_id: 'u-1', handle: 'anna' })
    writeFileSync(`${homes}/anna/note`, 'hers')
    await link.ask({ op: 'home.prepare', user_id: 'u-2', handle: 'anna' })
    expect(readlinkSync(`${homes}/anna`)).toBe('.users/u-2')
    expect(readFileSync(`${homes}/.users/u-1/note`, 'utf8')).toBe('hers')
  })

  test('a real directory under the handle is moved in, and names that exist are kept', async () => {
    const { agent, link } = await TestAgent.ready()
    await using _ = agent
    const homes = `${agent.folder}/homes`
    mkdirSync(`${homes}/anna`)
    writeFileSync(`${homes}/anna/work`, 'moved')
    writeFileSync(`${homes}/anna/.profile`, 'old profile')
    await link.ask({ op: 'home.prepare', user_id: 'u-1', handle: 'anna' })
    expect(lstatSync(`${homes}/anna`).isSymbolicLink()).toBe(true)
    expect(readFileSync(`${homes}/anna/work`, 'utf8')).toBe('moved')
    expect(readFileSync(`${homes}/anna/.profile`, 'utf8')).not.toBe('old profile')
    const before = readdirSync(`${homes}/anna`).find((name) => name.startsWith('before-'))
    expect(readFileSync(`${homes}/anna/${before}/.profile`, 'utf8')).toBe('old profile')
  })

  test.each([
    ['u-1', 'svc'],
    ['u-1', '..'],
    ['u-1', '.users'],
    ['u-1', 'a/b'],
    ['u-1', ''],
    ['../x', 'anna'],
    ['', 'anna'],
  ])('user %j cannot be called %j', async (user_id, handle) => {
    const { agent, link } = await TestAgent.ready()
    await using _ = agent
    expect(await link.call({ op: 'home.prepare', user_id, handle }).closed).toMatchObject({ code: 'bad_request' })
  })
})
