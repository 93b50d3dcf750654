import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestAgent } from './testing/test-agent.ts'
import type { TestLink } from './testing/test-link.ts'

describe('health checks', () => {
  let agent: TestAgent
  let link: TestLink
  beforeAll(async () => {
    ;({ agent, link } = await TestAgent.ready())
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  const check = async (command: string, timeout_ms = 10_000) =>
    (await link.ask({ op: 'health.check', command, timeout_ms })).message('checked')

  test.each([
    ['true', 0, ''],
    ['echo fine', 0, 'fine'],
    ['echo out; echo err >&2; exit 4', 4, 'err'],
    ['no-such-program', 127, expect.stringContaining('not found')],
    ['kill -9 $$', 137, ''],
  ])('%j is told as status %j with %j', async (command, code, output) => {
    expect(await check(command)).toEqual({ type: 'checked', code, output })
  })

  test('one that takes too long is killed with all its children', async () => {
    const checked = await check('sleep 1000 & echo $!; wait', 200)
    expect(checked?.code).toBeNull()
    await expect.poll(() => isAlive(Number(checked?.output))).toBe(false)
  })

  test('a child that lives on keeps nobody waiting', async () => {
    const checked = await check('sleep 1000 & echo $!')
    expect(checked?.code).toBe(0)
    process.kill(Number(checked?.output))
  })

  test('only the end of a long output is told, in whole characters', async () => {
    const checked = await check(`for i in $(seq 3000); do printf 'ü%s' $i; done; exit 1`)
    expect(Buffer.byteLength(checked?.output ?? '')).toBeLessThanOrEqual(512)
    expect(checked?.output).toMatch(/^[ü\d]{300,}ü3000$/)
  })

  test('output that is no text does not get longer than that either', async () => {
    const checked = await check('head -c 5000 /dev/zero | tr "\\0" "\\377"')
    expect(Buffer.byteLength(checked?.output ?? '')).toBeLessThanOrEqual(512)
  })

  test('startup files are not read', async () => {
    for (const name of ['.bashrc', '.profile', '.bash_profile'])
      writeFileSync(`${agent.home}/${name}`, 'echo startup\n')
    expect(await check('echo $HOME')).toMatchObject({ output: agent.home })
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
