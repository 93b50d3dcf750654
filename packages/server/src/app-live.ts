import { closeCodes } from '@svc/protocol/ws/close-codes'
import { buildAttachments } from './app-attachments.ts'
import type { People } from './app-people.ts'
import type { WorkspaceFeatures } from './app-workspaces.ts'
import type { Settings } from './config/settings.ts'
import type { Attachment } from './features/attachments/attachment.ts'
import type { OpenWorkspaces } from './features/attachments/open-workspaces.ts'
import { execBinary, execFrames } from './features/exec/exec-frames.ts'
import { Execs } from './features/exec/execs.ts'
import { sshAgentBinary, sshAgentFrames } from './features/ssh-agent/ssh-agent-frames.ts'
import { SshRelays } from './features/ssh-agent/ssh-relays.ts'
import { LiveTerminals } from './features/terminals/live-terminals.ts'
import { sharingFrames } from './features/terminals/sharing-frames.ts'
import { terminalFrames, terminalInput } from './features/terminals/terminal-frames.ts'
import type { EdgeSettings } from './http/edge-settings.ts'
import type { Upgrade } from './http/listener.ts'
import { FactsFactory, type HttpRequestFacts } from './http/request-facts.ts'
import { requestIds } from './http/request-ids.ts'
import { Background } from './kernel/background.ts'
import { systemClock } from './kernel/clock.ts'
import type { BinaryTable, FrameTable } from './kernel/frame.ts'
import { SocketRefused } from './kernel/socket-refused.ts'
import type { Ports } from './ports.ts'
import { helloFrames } from './realtime/hello-frames.ts'
import { OpenSockets } from './realtime/open-sockets.ts'
import { Sockets } from './realtime/sockets.ts'

interface Parts {
  readonly people: People
  readonly workspaces: WorkspaceFeatures
  readonly openWorkspaces: OpenWorkspaces
  readonly edge: () => EdgeSettings
  /** Takes what is for an application in a workspace. */
  readonly hosted: (upgrade: Upgrade, facts: HttpRequestFacts) => void
}

/** The part of the composition root that deals with open sockets, and with what people do in workspaces over them. */
export function buildLive(settings: () => Settings, ports: Ports, parts: Parts) {
  const { people, workspaces, openWorkspaces, edge, hosted } = parts
  const { clock, instanceId, build } = ports
  const { accounts, access, sessions, socketSignIn } = people
  const log = ports.log.child('sockets')
  const background = new Background(log)
  const open = new OpenSockets()
  const attach = buildAttachments(settings, ports, {
    people,
    features: workspaces,
    peers: open,
    open: openWorkspaces,
  })
  const { attachments } = attach
  const execs = new Execs({
    attachments,
    handleOf: async (userId) => (await accounts.require(userId)).handle,
    clock,
    background,
  })
  const sshRelays = new SshRelays({ attachments, clock, background })
  const terminals = new LiveTerminals({
    attachments,
    peers: open,
    accounts,
    workspaces: workspaces.workspaces,
    lifecycle: workspaces.lifecycle,
    clock,
    outputClock: systemClock,
    log: ports.log.child('terminals'),
  })
  const maxMessageBytes = () => settings().network.websocketMessageMaxBytes
  const frames: FrameTable<Attachment> = {
    ...helloFrames({ identity: () => ({ instance: instanceId, version: build().version }), maxMessageBytes }),
    ...attach.frames((attachment) => terminals.sharedList(attachment)),
    ...terminalFrames(terminals),
    ...sharingFrames(terminals),
    ...execFrames(execs),
    ...sshAgentFrames(sshRelays),
  }
  const binary: BinaryTable<Attachment> = {
    terminalInput: terminalInput(terminals),
    execStdin: execBinary(execs),
    sshAgent: sshAgentBinary(sshRelays),
  }
  const sockets = new Sockets({
    open,
    frames,
    binary,
    signIn: (token) => socketSignIn.admit(token),
    renew: (caller) => socketSignIn.readmit(caller),
    heard: ({ caller }) => socketSignIn.noteActivity(caller),
    opened: attach.opened,
    attachmentOf: (peer) => attachments.find(peer),
    allows: (caller, permission, resource) =>
      access.peekAllows(caller, permission, resource) ?? access.allows(caller, permission, resource),
    maxMessageBytes,
    isDebugging: () => settings().network.websocketDebug,
    clock,
    log,
  })
  const facts = new FactsFactory(edge, ports.log)
  const nextId = requestIds()
  const subscriptions: (() => void)[] = []
  /** By which the tokens of all open sockets were signed. */
  let signedBy: string | undefined

  return {
    frames,
    attachments,
    /** Whatever asks for another protocol than HTTP. */
    upgrade(upgrade: Upgrade): void {
      const about = facts.of(upgrade.request, nextId())
      const { path } = about
      signedBy ??= people.signingSecret()
      if (path === '/ws') sockets.accept({ ...upgrade, facts: about })
      else if (path.startsWith('/hosted/')) hosted(upgrade, about)
      else sockets.refuse({ ...upgrade, facts: about }, new SocketRefused(closeCodes.noSuchPath, 'No socket here'))
    },
    /** Before workspaces begin, so that nothing that happens to them is missed. */
    begin() {
      attach.begin()
      terminals.begin()
      subscriptions.push(
        sessions.ended.subscribe(({ sessionIds }) => sockets.sessionsEnded(sessionIds)),
        sessions.refreshed.subscribe(({ sessionId, expiresAt }) => sockets.sessionRefreshed(sessionId, expiresAt)),
        accounts.shutOut.subscribe(({ userId }) => sockets.shutOut(userId)),
        accounts.changed.subscribe(({ userId }) => sockets.accountChanged(userId)),
      )
    },
    /** Sockets do not outlive what they were opened with. */
    settingsChanged() {
      const before = signedBy
      signedBy = people.signingSecret()
      if (before === undefined || before === signedBy) return
      for (const peer of open.all()) peer.close(closeCodes.signedOut, 'The token is no longer valid')
    },
    announceEnd() {
      for (const peer of open.all()) peer.send({ type: 'host_shutdown' })
    },
    /** Says goodbye to everybody. What there was to tell them is told before. */
    async end() {
      await attach.end()
      await terminals.end()
      await sockets.closeAll(closeCodes.restart, 'The server stops')
      for (const endSubscription of subscriptions) endSubscription()
      await background.settled()
    },
  }
}
