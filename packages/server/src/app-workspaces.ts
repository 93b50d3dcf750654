import { join } from 'node:path'
import type { People } from './app-people.ts'
import type { Settings } from './config/settings.ts'
import { archiveRoutes } from './features/archives/archive-routes.ts'
import { WorkspaceExport } from './features/archives/workspace-export.ts'
import { WorkspaceImport } from './features/archives/workspace-import.ts'
import type { AuditLog } from './features/audit/audit-log.ts'
import { containerEventRoutes } from './features/container-events/container-event-routes.ts'
import { ContainerEventStore } from './features/container-events/container-event-store.ts'
import { ContainerEvents } from './features/container-events/container-events.ts'
import { FileDownloads } from './features/files/file-downloads.ts'
import { fileRoutes } from './features/files/file-routes.ts'
import { FileTrail } from './features/files/file-trail.ts'
import { FileUploads } from './features/files/file-uploads.ts'
import { RunningFiles } from './features/files/running-files.ts'
import { WorkspaceFiles } from './features/files/workspace-files.ts'
import { imageRoutes } from './features/images/image-routes.ts'
import { Images } from './features/images/images.ts'
import { Lifecycle } from './features/lifecycle/lifecycle.ts'
import { lifecycleRoutes } from './features/lifecycle/lifecycle-routes.ts'
import { listedToWire } from './features/lifecycle/workspace-status.ts'
import { HostedPorts } from './features/ports/hosted-ports.ts'
import { PortStore } from './features/ports/port-store.ts'
import { UserDeparture } from './features/users/user-departure.ts'
import { userDepartureRoutes } from './features/users/user-departure-routes.ts'
import { volumeRoutes } from './features/volumes/volume-routes.ts'
import { VolumeStore } from './features/volumes/volume-store.ts'
import { Volumes } from './features/volumes/volumes.ts'
import { workspaceTokenRoutes } from './features/workspace-tokens/workspace-token-routes.ts'
import { WorkspaceTokens } from './features/workspace-tokens/workspace-tokens.ts'
import { AbandonedHomesStore } from './features/workspaces/abandoned-homes-store.ts'
import { checkMounts, mountRulesOf } from './features/workspaces/mounts.ts'
import { OwnerWatch } from './features/workspaces/owner-watch.ts'
import { sharingRoutes } from './features/workspaces/sharing-routes.ts'
import { SharingStore } from './features/workspaces/sharing-store.ts'
import { WorkspaceAcl } from './features/workspaces/workspace-acl.ts'
import { ConfigurationRules } from './features/workspaces/workspace-configuration.ts'
import { WorkspaceListStore } from './features/workspaces/workspace-list-store.ts'
import { WorkspaceLists } from './features/workspaces/workspace-lists.ts'
import { WorkspaceOperations } from './features/workspaces/workspace-operations.ts'
import { WorkspaceRemoval } from './features/workspaces/workspace-removal.ts'
import { WorkspaceRoles } from './features/workspaces/workspace-roles.ts'
import { workspaceRoutes } from './features/workspaces/workspace-routes.ts'
import { WorkspaceSharing } from './features/workspaces/workspace-sharing.ts'
import { WorkspaceStore } from './features/workspaces/workspace-store.ts'
import { WorkspaceTransfer } from './features/workspaces/workspace-transfer.ts'
import { Workspaces } from './features/workspaces/workspaces.ts'
import { Background } from './kernel/background.ts'
import { Repeated } from './kernel/repeated.ts'
import type { Route } from './kernel/route.ts'
import type { Ports } from './ports.ts'

const HOUR_MS = 3_600_000

/** What other parts may use of it. */
export type WorkspaceFeatures = ReturnType<typeof buildWorkspaces>

/** The part of the composition root that deals with workspaces: their configuration, their containers, their files. */
export function buildWorkspaces(settings: () => Settings, ports: Ports, { audit, people, hasClients }: Parts) {
  const { storage, clock, engine, instanceId, dataDir } = ports
  const { accounts, access, groups, sessions } = people
  const log = ports.log.child('workspaces')
  const background = new Background(log)
  const store = new WorkspaceStore()
  const workspaces = new Workspaces({ storage, store })
  const images = new Images({ settings: () => settings().containers, engine, log })
  const volumes = new Volumes({
    storage,
    store: new VolumeStore(),
    engine,
    workspaces,
    audit,
    quotaPerWorkspace: () => settings().capacity.volumeQuotaPerWorkspace,
  })
  const events = new ContainerEvents({
    store: new ContainerEventStore(storage),
    retention: () => ({
      days: settings().audit.containerEventsRetentionDays,
      rowCap: settings().audit.containerEventsRowCap,
    }),
    clock,
    log,
  })
  const tokens = new WorkspaceTokens({
    tokens: people.tokens,
    workspaces,
    lifetimeHours: () => settings().auth.workspaceTokenHours,
    clock,
  })
  const hostedPorts = new HostedPorts({ storage, store: new PortStore(), settings: () => settings().hosting })
  const lifecycle = new Lifecycle({
    engine,
    workspaces,
    ports: hostedPorts,
    tokens,
    events,
    volumes,
    images,
    mounts: (mounts) => checkMounts(mounts, mountRulesOf(settings(), engine.privatePaths)),
    settings,
    hasClients,
    clock,
    log: ports.log.child('lifecycle'),
    random: Math.random,
  })
  const core = {
    storage,
    store,
    sharing: new SharingStore(),
    workspaces,
    accounts,
    access,
    groups,
    audit,
    background,
    clock,
  }
  const rules = new ConfigurationRules({ settings, images, protectedPaths: () => engine.privatePaths })
  const operations = new WorkspaceOperations({
    ...core,
    rules,
    settings,
    start: (id, ownerId, externalUrl) =>
      lifecycle.start(id, { cause: 'create', actor: { type: 'user', id: ownerId }, externalUrl }),
  })
  const files = { storage, workspaces, homes: engine.homes, audit, instanceId, clock, log: ports.log.child('archives') }
  const exports = new WorkspaceExport(files)
  const archives = join(dataDir, 'archives')
  const imports = new WorkspaceImport({
    ...files,
    operations,
    rules,
    settings: () => settings().network,
    folder: join(dataDir, 'imports'),
  })
  const removal = new WorkspaceRemoval({
    ...core,
    abandoned: new AbandonedHomesStore(),
    lifecycle,
    homes: engine.homes,
    describe: (workspace) => exports.describe(workspace),
    archive: (workspaceId, description, signal) =>
      exports.archiveTo(join(archives, `${workspaceId}.tar.gz`), { workspaceId, description, signal }),
  })
  const ownerWatch = new OwnerWatch({
    ...core,
    stop: (id, actor) => lifecycle.stop(id, { cause: 'logout', actor }),
  })
  const lists = new WorkspaceLists({
    storage,
    store: new WorkspaceListStore(),
    accounts,
    statusOf: (id) => listedToWire(lifecycle.status({ id })),
  })
  const pruning = new Repeated({
    what: 'removing old container rows',
    everyMs: HOUR_MS,
    work: () => events.prune(),
    clock,
    log,
  })
  const fileParts = { running: new RunningFiles({ lifecycle, workspaces }), trail: new FileTrail({ storage, audit }) }
  const routes: Route[] = [
    ...workspaceRoutes({ operations, removal, lists }),
    ...sharingRoutes({
      sharing: new WorkspaceSharing(core),
      roles: new WorkspaceRoles(core),
      acl: new WorkspaceAcl({ ...core, acl: people.acl }),
      transfer: new WorkspaceTransfer(core),
    }),
    ...userDepartureRoutes(new UserDeparture({ ...core, sessions, removal })),
    ...lifecycleRoutes({ lifecycle, workspaces }),
    ...archiveRoutes({ exports, imports }),
    ...fileRoutes({
      files: new WorkspaceFiles(fileParts),
      downloads: new FileDownloads({ ...fileParts, clock }),
      uploads: new FileUploads({ ...fileParts, maxBytes: () => settings().network.fileUploadMaxBytes }),
    }),
    ...volumeRoutes(volumes),
    ...imageRoutes(images),
    ...containerEventRoutes(events),
    ...workspaceTokenRoutes(tokens),
  ]

  return {
    routes,
    workspaces,
    hostedPorts,
    lifecycle,
    events,
    async start() {
      await pruning.start()
      await imports.begin()
      await exports.begin(archives)
      await lifecycle.begin()
      await removal.begin()
      await ownerWatch.begin()
    },
    refuseStarts: () => lifecycle.refuseStarts(),
    /** Ends every workspace, because the server ends. */
    drain: () => lifecycle.drain('shutdown'),
    async stop() {
      ownerWatch.end()
      removal.end()
      await lifecycle.end()
      await pruning.stop()
      await background.settled()
    },
  }
}

interface Parts {
  readonly audit: AuditLog
  readonly people: People
  /** Whether somebody has the workspace open. */
  readonly hasClients: (workspaceId: string) => boolean
}
