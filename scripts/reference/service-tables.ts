import { type App, createApp } from '../../packages/server/src/app.ts'
import type { Logger } from '../../packages/server/src/kernel/logger.ts'
import type { Ports } from '../../packages/server/src/ports.ts'
import { engineAway } from '../../packages/server/src/testing/engine-away.ts'

/**
 * The routes and frames of the real composition root, so that none can be forgotten. Building the service opens nothing
 * and reads no setting; whatever it would ask of the outside fails loudly here.
 */
export async function serviceTables(): Promise<Pick<App, 'routes' | 'frames'>> {
  const app = await createApp(() => refuse('settings'), standIns)
  await app.http.close()
  return app
}

const silent: Logger = { debug() {}, info() {}, warning() {}, error() {}, critical() {}, child: () => silent }

const standIns: Ports = {
  storage: {
    get db() {
      return refuse('storage.db')
    },
    transaction: () => refuse('storage.transaction'),
    close: () => refuse('storage.close'),
  },
  engine: engineAway(''),
  clock: { nowMs: () => refuse('clock.nowMs'), after: () => refuse('clock.after') },
  log: silent,
  instanceId: '',
  dataDir: '',
  signingSecret: '',
  build: () => ({ version: '', commit: '', built_at: null }),
  webDir: '',
}

function refuse(what: string): never {
  throw new Error(`building the route table must not use ${what}`)
}
