import { link, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { scratchFolder } from '../../testing/start-daemon.ts'
import { AgentSockets } from './agent-sockets.ts'

/** Listens where the path is short enough, and moves the socket to where it is wanted. */
async function listen(path: string): Promise<void> {
  const folder = await scratchFolder()
  const server = createServer((socket) => socket.end('agent'))
  await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve))
  onTestFinished(() => void server.close())
  await link(join(folder, 's'), path)
}

async function open(folder: string) {
  return new AgentSockets({ folder, owner: undefined })
}

test('an agent is reached as soon as it listens, however long the path is', async () => {
  const folder = join(await scratchFolder(), 'd'.repeat(200))
  const sockets = await open(folder)
  const directory = await sockets.prepare('w1')
  expect(await sockets.connect('w1')).toBeUndefined()
  await listen(join(directory, 'agent.sock'))
  const socket = await sockets.connect('w1')
  expect(String(socket && (await buffer(socket)))).toBe('agent')
})

test('a link to the socket of another workspace leads nowhere', async () => {
  const sockets = await open(await scratchFolder())
  const [mine, theirs] = [await sockets.prepare('mine'), await sockets.prepare('theirs')]
  await listen(join(theirs, 'agent.sock'))
  await symlink('../theirs/agent.sock', join(mine, 'agent.sock'))
  expect(await sockets.connect('mine')).toBeUndefined()
  expect((await sockets.connect('theirs'))?.destroy()).toBeDefined()
})

test('a file that is no socket is not an agent', async () => {
  const sockets = await open(await scratchFolder())
  await writeFile(join(await sockets.prepare('w1'), 'agent.sock'), '')
  expect(await sockets.connect('w1')).toBeUndefined()
})

test('a directory is made anew for each container, for its owner alone, and removed with all that is in it', async () => {
  const folder = join(await scratchFolder(), 'agents')
  const sockets = await open(folder)
  const directory = await sockets.prepare('w1')
  await mkdir(join(directory, 'left/behind'), { recursive: true })
  expect(await readdir(await sockets.prepare('w1'))).toEqual([])
  expect([(await stat(folder)).mode & 0o777, (await stat(directory)).mode & 0o777]).toEqual([0o700, 0o700])
  await sockets.remove('w1')
  await sockets.remove('w1')
  expect(await readdir(folder)).toEqual([])
})
