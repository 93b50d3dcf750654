import { type ContainerEngine, EngineError } from '../engine/container-engine.ts'
import { HostHomes } from '../engine/host-homes/host-homes.ts'

/** An engine that does not answer: for tests in which nothing runs. Homes are there all the same, below `folder`. */
export function engineAway(folder: string): ContainerEngine {
  const away = () => Promise.reject(new EngineError('unavailable', 'No engine answers'))
  return {
    name: 'no engine',
    supports: { images: true, userNamespaces: true, limits: true, networks: true, volumes: true },
    privatePaths: [],
    containerSubnets: [],
    homes: new HostHomes({ root: `${folder}/workspaces`, owner: undefined }),
    volumes: { list: async () => [], find: away, create: away, remove: away },
    images: { has: away, pull: away },
    run: away,
    connect: away,
    remove: away,
    inspect: async () => undefined,
    list: async () => [],
    watch() {},
    async close() {},
  }
}
