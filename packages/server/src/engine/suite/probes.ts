import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'

// What the tests of engines look at, from outside and, as text to be run there, from inside a container.

export const MEGABYTE = 1024 * 1024
export const NEVER = new AbortController().signal

export const DANGEROUS = {
  NET_ADMIN: 12n,
  NET_RAW: 13n,
  SYS_MODULE: 16n,
  SYS_PTRACE: 19n,
  SYS_ADMIN: 21n,
  SYS_TIME: 25n,
}

export const fieldOf = (status: string, name: string): string =>
  new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? 'not there'

/** Both generations of control groups. */
export const READ_LIMITS = `
  const { existsSync, readFileSync } = await load('node:fs')
  const at = (path) => readFileSync('/sys/fs/cgroup/' + path, 'utf8').trim()
  const number = (text) => (text === 'max' || text === '-1' ? 'max' : Number(text))
  if (existsSync('/sys/fs/cgroup/pids.max')) {
    const [quota, period] = at('cpu.max').split(' ')
    return {
      cpus: quota === 'max' ? 'max' : quota / period,
      memory: number(at('memory.max')),
      swap: number(at('memory.swap.max')),
      pids: number(at('pids.max')),
    }
  }
  const quota = number(at('cpu/cpu.cfs_quota_us'))
  const memory = number(at('memory/memory.limit_in_bytes'))
  const both = existsSync('/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes')
    ? number(at('memory/memory.memsw.limit_in_bytes')) : memory
  return {
    cpus: quota === 'max' ? 'max' : quota / at('cpu/cpu.cfs_period_us'),
    memory,
    swap: both - memory,
    pids: number(at('pids/pids.max')),
  }`

export const EAT_MEMORY = 'const held = []; for (;;) held.push(Buffer.alloc(8 * 1024 * 1024, 1))'
export const INTERFACES = `return (await load('node:os')).networkInterfaces()`
export const ADDRESS = `
  const all = Object.values((await load('node:os')).networkInterfaces()).flat()
  return all.find(({ family, internal }) => family === 'IPv4' && !internal).address`
export const LISTEN = `
  const server = (await load('node:net')).createServer((socket) => socket.end('here'))
  await new Promise((resolve) => server.listen(8000, '0.0.0.0', resolve))`
export const REACHES = `
  const { connect } = await load('node:net')
  const reaches = (host, port) => new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 })
    const answer = (value) => { socket.destroy(); resolve(value) }
    socket.on('data', () => answer(true)).on('error', () => answer(false))
    socket.on('timeout', () => answer(false)).on('close', () => answer(false))
  });`

export function reaches(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 })
    const answer = (value: boolean) => {
      socket.destroy()
      resolve(value)
    }
    socket.on('data', () => answer(true)).on('error', () => answer(false))
    socket.on('timeout', () => answer(false)).on('close', () => answer(false))
  })
}

export function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address)
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
