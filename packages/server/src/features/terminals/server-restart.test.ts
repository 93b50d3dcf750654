import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ask, BYTES, openDesk, run, start, startDesk, TEXT } from '../../testing/live-terminals.ts'
import { allowOnly, openLocalEngine } from '../../testing/live-workspace.ts'
import { PASSWORD, startAccounts } from '../../testing/start-accounts.ts'

test('after a crash of the server shells, screens, windows, places and sharing are as they were', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-restart-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const first = await startDesk({ folder })
  const { ann, workspaceId } = first
  const bob = await first.server.person('bob')
  await allowOnly(ann, workspaceId, [[bob, ['join-workspace', 'spectate-on-shared-terminals']]])
  const tab = await first.tab(ann, BYTES)
  const { started } = await start(tab)
  await run(tab, 'x=kept; echo vi""sible', 'visible')
  await ask(tab, { cmd: 'terminal_new_window', name: 'logs' })
  await ask(tab, { cmd: 'terminal_new_window', name: 'closed' })
  await ask(tab, { cmd: 'terminal_close_window', window_id: '@3' })
  await ask(tab, { cmd: 'share_window', window_id: '@1' })
  const last = tab.binary.at(-1)
  const resume = { channel: started.channel ?? 0, offset: last ? last.offset + last.payload.length : 0 }
  await run(tab, 'echo mis""sed', 'missed')
  await first.server.crash()

  await using server = await startAccounts({ folder, openEngine: openLocalEngine })
  const second = await openDesk(server, workspaceId)
  const [again, watcher] = [await server.signIn(ann.email, PASSWORD), await server.signIn(bob.email, PASSWORD)]
  const his = await second.tab(watcher, TEXT)
  expect(await ask(his, { cmd: 'list_shared_terminals' })).toMatchObject({
    terminals: [{ user_id: ann.id, window_id: '@1', handle: 'ann' }],
  })
  await ask(his, { cmd: 'join_shared_terminal', user_id: ann.id, window_id: '@1' })
  await his.untilOutput('visible')
  const back = await second.tab(again, BYTES)
  const resumed = await start(back, { resume })
  expect(resumed.started).toMatchObject({ ...resume, window_id: '@1', resumed: true })
  expect(resumed.windows).toEqual([
    { id: '@1', index: 0, name: 'term', active: true },
    { id: '@2', index: 1, name: 'logs', active: false },
  ])
  await back.untilOutput('missed')
  expect(back.output).not.toContain('visible')
  await run(back, 'echo "<$x>"', '<kept>')
  await his.untilOutput('<kept>')
  expect(await ask(back, { cmd: 'terminal_new_window' })).toMatchObject({
    windows: [{ id: '@1' }, { id: '@2' }, { id: '@4' }],
  })
})
