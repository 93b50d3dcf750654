import type { SharedTerminal } from '@svc/protocol/ws/server-frames'
import type { People } from './app-people.ts'
import type { WorkspaceFeatures } from './app-workspaces.ts'
import type { Settings } from './config/settings.ts'
import type { Attachment } from './features/attachments/attachment.ts'
import { attachmentFrames } from './features/attachments/attachment-frames.ts'
import { Attachments } from './features/attachments/attachments.ts'
import { FirstFrames } from './features/attachments/first-frames.ts'
import { HealthHeartbeats } from './features/attachments/health-heartbeats.ts'
import { hintAtLists } from './features/attachments/list-hints.ts'
import type { OpenWorkspaces } from './features/attachments/open-workspaces.ts'
import { RightsWatch } from './features/attachments/rights-watch.ts'
import { StartProgress } from './features/attachments/start-progress.ts'
import { StatusFrames } from './features/attachments/status-frames.ts'
import { UserHomes } from './features/attachments/user-home.ts'
import { Welcome } from './features/attachments/welcome.ts'
import { WorkspaceRestart } from './features/attachments/workspace-restart.ts'
import { WorkspaceRights } from './features/attachments/workspace-rights.ts'
import type { Peer, Peers } from './kernel/peer.ts'
import type { Ports } from './ports.ts'

interface Parts {
  readonly people: Pick<People, 'accounts' | 'access'>
  readonly features: Pick<WorkspaceFeatures, 'workspaces' | 'lifecycle'>
  readonly peers: Peers
  readonly open: OpenWorkspaces
}

/** The part of the composition root that lets sockets into workspaces and tells people what happens to them. */
export function buildAttachments(settings: () => Settings, ports: Ports, { people, features, peers, open }: Parts) {
  const { clock } = ports
  const { accounts, access } = people
  const { workspaces, lifecycle } = features
  const log = ports.log.child('attachments')
  const rights = new WorkspaceRights({ accounts, access })
  const homes = new UserHomes({ accounts, settings: () => settings().containers })
  const core = { open, peers, workspaces, lifecycle, rights, log }
  const attachments = new Attachments({ ...core, homes, clock })
  const status = new StatusFrames(core)
  const watch = new RightsWatch({ ...core, attachments, access, accounts })
  const progress = new StartProgress(core)
  const welcome = new Welcome({ ...core, attachments, progress })
  const restart = new WorkspaceRestart({ lifecycle, status })
  const firstFrames = new FirstFrames(core)
  const heartbeats = new HealthHeartbeats({
    isHealthOnTime: () => lifecycle.isHealthOnTime,
    intervalSeconds: () => settings().containers.healthCheckIntervalSeconds,
    clock,
  })
  const subscriptions: (() => void)[] = []

  return {
    attachments,
    /** `sharedTerminals`: what others let this person watch. */
    frames: (sharedTerminals: (attachment: Attachment) => Promise<readonly SharedTerminal[]>) =>
      attachmentFrames({ attachments, welcome, restart, heartbeats, sharedTerminals }),
    /** The first frames of a socket that was just put among `peers`. */
    opened: (peer: Peer) => firstFrames.send(peer),
    /** Before workspaces begin, so that nothing that happens to them is missed. */
    begin() {
      subscriptions.push(status.begin(), watch.begin(), progress.begin(), hintAtLists(peers, workspaces))
    },
    /** Afterwards nobody is told anything, and nothing is under way. */
    async end() {
      await status.settled()
      for (const endSubscription of subscriptions) endSubscription()
      heartbeats.end()
      await status.settled()
      await watch.settled()
    },
  }
}
