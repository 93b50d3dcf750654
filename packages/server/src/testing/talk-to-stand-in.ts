import { copyFile, link, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ContainerEngine, ContainerId } from '../engine/container-engine.ts'

const SCRIPT = join(import.meta.dirname, 'stand-in-agent.mjs')

/** Fills a directory to be mounted at `/opt/svc`. */
export async function placeStandIn(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true })
  const node = join(directory, 'node')
  await link(process.execPath, node).catch(() => copyFile(process.execPath, node)) // another file system
  await copyFile(SCRIPT, join(directory, 'agent.mjs'))
  return directory
}

/** Runs the body of an async function in the container; `load` in it imports a module of Node. */
export async function evaluate(engine: ContainerEngine, id: ContainerId, code: string): Promise<unknown> {
  const socket = await engine.connect(id, AbortSignal.timeout(20_000))
  try {
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
    const hello = await lines.next()
    if (hello.value !== '"hello"') throw new Error(`no hello, but ${hello.value}`)
    socket.write(`${JSON.stringify(code)}\n`)
    const answer = await lines.next()
    if (answer.done) throw new Error('the agent was lost')
    const { value, error } = JSON.parse(answer.value)
    if (error !== undefined) throw new Error(error)
    return value
  } finally {
    socket.destroy()
  }
}
