import { makeWorkspace, openLocalEngine } from './live-workspace.ts'
import { run } from './open-machine.ts'
import { type AccountsOptions, type Person, startAccounts, succeed } from './start-accounts.ts'

export interface FileRequest {
  readonly method?: string
  /** Below `/workspaces/<id>/files`; begins with a slash, or is empty. */
  readonly at?: string
  /** As it is asked for; encoded here. */
  readonly path?: string
  readonly body?: unknown
  readonly as?: Person
  readonly signal?: AbortSignal
}

/** A whole server with one workspace of the administrator that runs on the local engine. Dispose it when done. */
export async function startFiles(options: Pick<AccountsOptions, 'env'> = {}) {
  const server = await startAccounts({ ...options, openEngine: openLocalEngine })
  const { admin } = server
  const workspace = async (name: string) => {
    const id = await makeWorkspace(admin, { name })
    await succeed(admin.post(`/workspaces/${id}/start`))
    return id
  }
  const id = await workspace('files')
  const running = () => server.app.lifecycle.requireRunning(id)
  const address = (at: string, path: string | undefined) => {
    const query = path === undefined ? '' : `?path=${encodeURIComponent(path)}`
    return `http://127.0.0.1:${server.port}/api/v1/workspaces/${id}/files${at}${query}`
  }

  async function call({
    method = 'GET',
    at = '',
    path,
    body,
    as = admin,
    signal,
  }: FileRequest = {}): Promise<Response> {
    const isJson = body !== undefined && !(body instanceof FormData)
    return fetch(address(at, path), {
      method,
      headers: {
        authorization: `Bearer ${as.token}`,
        ...(isJson ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  }

  const { app, audit, clock, log, person, port, storage } = server
  return {
    admin,
    app,
    audit,
    clock,
    log,
    person,
    port,
    storage,
    workspace,
    id,
    call,
    address,
    running,
    /** Status and body of an answer in JSON. */
    async answer(request?: FileRequest) {
      const response = await call(request)
      return { status: response.status, json: (await response.json()) as unknown }
    },
    upload(content: string | Uint8Array<ArrayBuffer>, path?: string, name = 'name.txt') {
      const form = new FormData()
      form.append('file', new Blob([content]), name)
      return call({ method: 'POST', at: '/upload', body: form, ...(path === undefined ? {} : { path }) })
    },
    /** Runs a script in the workspace, in a directory that is its own; answers what it wrote, or the directory. */
    async prepare(script = ':'): Promise<string> {
      const folder = `/home/svc/case-${crypto.randomUUID().slice(0, 8)}`
      await run(running(), `mkdir ${folder} && cd ${folder} && ${script}`)
      return folder
    },
    sh: (script: string) => run(running(), script),
    /** Requests to the agent that are under way. */
    calls: () => running().agent.callCount,
    /** When the workspace was last used. */
    async idleSeconds(): Promise<unknown> {
      const { json } = await succeed(admin.get(`/workspaces/${id}/status`))
      return Reflect.get(Object(json), 'idle_seconds')
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

export type FilesServer = Awaited<ReturnType<typeof startFiles>>
