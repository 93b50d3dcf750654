import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Puts an image into an engine without any registry: the libraries Node needs, or nothing at all. */
export async function importImage(socketPath: string, name: string, content: 'libraries' | 'empty'): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'))
  try {
    await mkdir(join(folder, 'etc'))
    if (content === 'libraries') await copyLibraries(folder)
    const { stdout } = await run('tar', ['-C', folder, '-c', '.'], { encoding: 'buffer', maxBuffer: 1024 ** 3 })
    const repo = name.replace(/:latest$/, '') // the only tag Podman gives here
    await call(socketPath, 'POST', `/v1.41/images/create?fromSrc=-&repo=${repo}&tag=latest`, stdout)
  } finally {
    await rm(folder, { recursive: true })
  }
}

export async function removeImage(socketPath: string, name: string): Promise<void> {
  await call(socketPath, 'DELETE', `/v1.41/images/${encodeURIComponent(name)}?force=true`)
}

/** As another client of the engine would do it. */
export async function call(socketPath: string, method: string, path: string, body?: Buffer | string): Promise<string> {
  const json = typeof body === 'string'
  const outgoing = request({
    socketPath,
    method,
    path,
    headers: { host: 'engine', 'content-type': json ? 'application/json' : 'application/x-tar' },
  })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  if (response.statusCode >= 400) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`)
  return text
}

async function copyLibraries(folder: string): Promise<void> {
  const { stdout } = await run('ldd', [process.execPath])
  const libraries = stdout.match(/\/\S+/g)?.filter((path) => path !== process.execPath) ?? []
  for (const path of new Set(libraries.map((name) => name.replace(/:$/, '')))) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await copyFile(path, join(folder, path))
  }
}
