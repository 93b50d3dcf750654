import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { EdgeSettings } from './edge-settings.ts'
import { pageHeaders } from './security-headers.ts'

/** Paths that belong to the API or to sockets, whatever is below them: they never answer with a page. */
const NOT_THE_UI = /^\/(?:api|ws|hosted|llm-proxy|health|audit|empty|metrics|test)(?:\/|$)/
/** The build puts a digest of its content into the name of everything below `assets/`, so it can be kept for ever. */
const HASHED = /^\/assets\//
/** Names as the build makes them; above all no segment that starts with a dot. Nothing else is looked for on the disk. */
const ASSET_PATH = /^(?:\/[\w-][\w.-]*)+$/
const ONE_YEAR_MS = 365 * 24 * 3600 * 1000
/** Stands in the built page where each answer's own nonce goes. */
const NONCE_MARK = '__SVC_STYLE_NONCE__'

/** Serves the built browser UI. */
export class WebUi {
  readonly #settings: () => EdgeSettings
  #page: { file: string; modifiedMs: number; text: string } | undefined

  constructor(settings: () => EdgeSettings) {
    this.#settings = settings
  }

  async register(app: FastifyInstance): Promise<void> {
    // `serve: false`: the folder is a setting that can change while we run, so each answer names it.
    await app.register(fastifyStatic, { root: '/', serve: false, preCompressed: true })
  }

  /** Answers with a file or the page; false when the address is not the UI's to answer. */
  async answer(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const root = this.#settings().frontendDir
    const { path } = request.facts
    if (root === undefined || !['GET', 'HEAD'].includes(request.method) || NOT_THE_UI.test(path)) return false
    if (extname(path) !== '' && path !== '/index.html') return this.#sendFile(path, root, reply)
    if (path !== '/' && !request.headers.accept?.includes('text/html')) return false
    return this.#sendPage(root, request, reply)
  }

  async #sendFile(path: string, root: string, reply: FastifyReply): Promise<boolean> {
    if (!ASSET_PATH.test(path)) return false
    const file = await stat(join(root, path)).catch(() => undefined)
    if (!file?.isFile()) return false
    const hashed = HASHED.test(path)
    await reply.sendFile(path, root, { maxAge: hashed ? ONE_YEAR_MS : 0, immutable: hashed, acceptRanges: false })
    return true
  }

  async #sendPage(root: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const text = await this.#readPage(join(root, 'index.html'))
    if (text === undefined) return false
    const nonce = randomBytes(16).toString('base64')
    const { cspConnectOrigins, logoUrl } = this.#settings()
    // The page names its files relative to itself; this makes that work from any address below the base path.
    const base = `<base href="${new URL(request.facts.externalUrl).pathname.replace(/\/?$/, '/')}">`
    await reply
      .headers(pageHeaders({ styleNonce: nonce, connectOrigins: cspConnectOrigins, logoUrl }))
      .type('text/html; charset=utf-8')
      .send(text.replace('<head>', `<head>${base}`).replaceAll(NONCE_MARK, nonce))
    return true
  }

  /** Read again only when it changed: an upgrade may replace it under a running server. */
  async #readPage(file: string): Promise<string | undefined> {
    const found = await stat(file).catch(() => undefined)
    if (!found) return undefined
    if (this.#page?.file !== file || this.#page.modifiedMs !== found.mtimeMs) {
      this.#page = { file, modifiedMs: found.mtimeMs, text: await readFile(file, 'utf8') }
    }
    return this.#page.text
  }
}
