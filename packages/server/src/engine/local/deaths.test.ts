import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { Deaths } from './deaths.ts'
import { identifyProcess } from './process-identity.ts'

test('a death is told although what is left of the workspace cannot be ended', async () => {
  const child = spawn('sleep', ['60'])
  const main = await identifyProcess(child.pid ?? 0)
  if (!main) throw new Error('there is no process to watch')
  const [clock, log, died] = [new FakeClock(), new MemoryLog(), Promise.withResolvers<string>()]
  const onDeath = () => Promise.reject(new Error('not permitted'))
  const deaths = new Deaths({ clock, log, onDeath })
  deaths.expect({ id: 'w.1', workspaceId: 'w', role: 'workspace', main, startedAt: 0, volumes: [] })
  deaths.listen({ died: ({ id }) => died.resolve(id), gap() {} }, new AbortController().signal)
  child.kill('SIGKILL')
  await once(child, 'exit')
  clock.advance(1000)
  expect(await died.promise).toBe('w.1')
  expect(log.records).toMatchObject([{ level: 'WARNING', fields: { workspace_id: 'w' } }])
  deaths.close()
})
