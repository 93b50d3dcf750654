import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { appsAuthority, hostedCookie, hostedPath } from '../../kernel/hosted-address.ts'
import type { Logger } from '../../kernel/logger.ts'
import { AccessLog, type OnFinished } from '../access-log.ts'
import type { EdgeSettings } from '../edge-settings.ts'
import type { Upgrade } from '../listener.ts'
import { refuseUpgrade } from '../refuse-upgrade.ts'
import { FactsFactory, type HttpRequestFacts } from '../request-facts.ts'
import { requestIds } from '../request-ids.ts'
import { appsHostOf, isApart } from './apps-host.ts'
import { mayUseCookie } from './cookie-use.ts'
import { takeOutOwnCookies } from './cookies.ts'
import { takeOutEntryCode, withEntryCode } from './entry-code.ts'
import type { Exchange } from './exchange.ts'
import { forward } from './forward.ts'
import type { HostedApps } from './hosted-apps.ts'
import { type HostedTarget, isHosted, parseHostedUrl } from './hosted-url.ts'
import { withKnownLabels } from './metric-labels.ts'
import { offeredToken } from './offered-protocols.ts'
import { refusal } from './refusal.ts'
import { openTunnel } from './tunnel.ts'

/** What metrics call all of these addresses. */
const ROUTE = '/hosted'

export interface OutsideTheTable {
  readonly path: string
  readonly needs: string
}

export const HOSTED_ADDRESSES: OutsideTheTable = {
  path: '/hosted/:workspace_id/:port/*',
  needs: 'join-workspace on /workspaces/:workspace_id by token or cookie; nothing where the workspace is public',
}

interface HostedProxyParts {
  readonly apps: HostedApps
  readonly settings: () => EdgeSettings
  readonly clock: Clock
  readonly log: Logger
  readonly onFinished?: OnFinished
}

/** Answers `/hosted/<workspace>/<port>/…` with what the application on that port of the workspace answers. */
export class HostedProxy {
  readonly #apps: HostedApps
  readonly #settings: () => EdgeSettings
  readonly #clock: Clock
  readonly #facts: FactsFactory
  readonly #accessLog: AccessLog
  readonly #nextId = requestIds()
  #judged: { readonly host: string; readonly settings: EdgeSettings; readonly isForApps: boolean } | undefined

  constructor(parts: HostedProxyParts) {
    this.#apps = parts.apps
    this.#settings = parts.settings
    this.#clock = parts.clock
    this.#facts = new FactsFactory(parts.settings, parts.log)
    const { log, onFinished } = parts
    this.#accessLog = new AccessLog({ log, onFinished: onFinished && withKnownLabels(onFinished) })
  }

  /** Takes what is for applications, and leaves everything else to `next`. */
  handler(next: RequestListener): RequestListener {
    return (message, response) => {
      if (isHosted(message.url ?? '') || this.#isAtAppsHost(message)) void this.#answer(message, response)
      else next(message, response)
    }
  }

  /** A WebSocket for an application. */
  async upgrade({ request, socket, head }: Upgrade, facts: HttpRequestFacts): Promise<void> {
    const startedMs = performance.now()
    const client = facts.clientAddress
    let status: number | undefined
    socket.once('close', () => {
      this.#accessLog.note(facts, { status, client, elapsedMs: performance.now() - startedMs, route: ROUTE })
    })
    const answered = (given: number | undefined) => {
      status = given
    }
    const refuse = (error: unknown) => {
      const refused = this.#refusal(error, { headers: {} }, facts)
      answered(refused.status)
      refuseUpgrade(socket, refused.status, refused.body)
    }
    try {
      const target = requireTarget(request)
      const { path } = takeOutEntryCode(target.path ?? '/')
      const exchange = await this.#admit(request, facts, { ...target, path })
      await endingOnFailure(exchange, async () =>
        openTunnel(exchange, { client: socket, head, clock: this.#clock, refuse, answered }),
      )
    } catch (error) {
      refuse(error)
    }
  }

  /** Nobody's trust is needed: who forges a host only keeps the web interface from themselves. */
  #isAtAppsHost({ headers }: IncomingMessage): boolean {
    return this.#isAppsHost(headers.host) || this.#isAppsHost(headers['x-forwarded-host'])
  }

  /** Every request of the server passes here, and nearly all name the same host: the latest answer is kept. */
  #isAppsHost(host: string | readonly string[] | undefined): boolean {
    if (typeof host !== 'string') return false
    const settings = this.#settings()
    if (this.#judged?.host !== host || this.#judged.settings !== settings) {
      this.#judged = { host, settings, isForApps: appsHostOf(host.toLowerCase(), settings) !== undefined }
    }
    return this.#judged.isForApps
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const facts = this.#facts.of(message, this.#nextId())
    this.#accessLog.follow(facts, response, () => ROUTE)
    const refuse = (error: unknown) => this.#refuse(error, { message, response, facts })
    try {
      if (!this.#apps.isOffered()) throw notFound()
      const target = requireTarget(message)
      const prefix = hostedPath(facts.externalUrl, target.workspaceId, target.hostPort)
      if (target.path === undefined) return redirect(response, 308, `${prefix}${target.query}`)
      const { path, code } = takeOutEntryCode(target.path)
      if (code !== undefined && isReading(message)) {
        const cookie = await this.#enter(target.workspaceId, code, facts)
        return redirect(response, 303, `${prefix}${path.slice(1)}`, cookie)
      }
      const exchange = await this.#admit(message, facts, { ...target, path })
      await endingOnFailure(exchange, async () => {
        const elsewhere = await this.#otherHost(exchange, target.workspaceId)
        if (elsewhere === undefined) return forward(exchange, response, { clock: this.#clock, refuse })
        exchange.app.end()
        redirect(response, 302, elsewhere)
      })
    } catch (error) {
      refuse(error)
    }
  }

  async #admit(
    message: IncomingMessage,
    facts: HttpRequestFacts,
    { workspaceId, hostPort, path }: HostedTarget & { readonly path: string },
  ): Promise<Exchange> {
    const { host, externalUrl } = facts
    const inProtocol = offeredToken(message.headers['sec-websocket-protocol'])
    const app = await this.#apps.admit({
      workspaceId,
      hostPort,
      tokens: [facts.bearerToken, inProtocol].filter((token) => token !== undefined),
      cookies: mayUseCookie(facts.method, message.headers, host) ? takeOutOwnCookies(message.headers.cookie).own : [],
    })
    const place = {
      prefix: hostedPath(externalUrl, workspaceId, hostPort),
      hostPort,
      host: host || new URL(externalUrl).host,
      isShared: !isApart(host, workspaceId, this.#settings()),
      isPrivate: !app.isPublic,
    }
    return { message, facts, app, path, place }
  }

  /** Only where there is no other way to give a browser its cookie. */
  async #enter(
    workspaceId: string,
    code: string,
    { host, externalUrl }: HttpRequestFacts,
  ): Promise<string | undefined> {
    if (!isApart(host, workspaceId, this.#settings())) return undefined
    const pass = await this.#apps.enter(workspaceId, code)
    const secure = externalUrl.startsWith('https:')
    return pass && hostedCookie({ ...pass, path: hostedPath(externalUrl, workspaceId), secure })
  }

  /** Where a person who goes to an application should be instead: where it can have an origin of its own. */
  async #otherHost({ message, facts, app, place, path }: Exchange, workspaceId: string): Promise<string | undefined> {
    if (!place.isShared || !isReading(message) || message.headers['sec-fetch-dest'] !== 'document') return undefined
    const apart = appsAuthority(workspaceId, facts.externalUrl, this.#settings().hostedAppsHostname)
    if (apart === undefined) return undefined
    const { protocol } = new URL(facts.externalUrl)
    return withEntryCode(`${protocol}//${apart}${place.prefix}${path.slice(1)}`, await app.entryCode())
  }

  #refuse(error: unknown, { message, response, facts }: Answering): void {
    if (response.headersSent || response.destroyed) {
      response.destroy()
      return
    }
    const { status, headers, body } = this.#refusal(error, message, facts)
    // Whatever else of the body is on its way would have to be read first.
    const close = message.complete ? {} : { connection: 'close' }
    response.writeHead(status, { ...headers, ...close, 'x-request-id': facts.id }).end(body)
    message.resume()
  }

  #refusal(error: unknown, message: Pick<IncomingMessage, 'headers'>, { id, method, path, log }: HttpRequestFacts) {
    const refused = refusal(error, message, id)
    const isOurs = refused.fault !== undefined && !(error instanceof AppError && error.code === 'app_not_answering')
    if (isOurs) log.error(`${method} ${path} failed`, { error: refused.fault })
    return refused
  }
}

interface Answering {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly facts: HttpRequestFacts
}

/** What could not be begun is over. */
async function endingOnFailure({ app }: Exchange, begin: () => Promise<void>): Promise<void> {
  try {
    await begin()
  } catch (error) {
    app.end()
    throw error
  }
}

function redirect(response: ServerResponse, status: number, location: string, cookie?: string): void {
  response.writeHead(status, {
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    ...(cookie === undefined ? {} : { 'set-cookie': cookie }),
  })
  response.end()
}

function requireTarget({ url = '' }: IncomingMessage): HostedTarget {
  const target = parseHostedUrl(url)
  if (!target) throw notFound()
  return target
}

const isReading = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'

const notFound = () => new AppError('not_found', 'Not Found')
