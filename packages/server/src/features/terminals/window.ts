import { SERVICE_TERMINAL } from '@svc/protocol/agent/requests'
import { systemAgent } from '@svc/protocol/system-agent'
import type { Window } from '@svc/protocol/ws/server-frames'
import { z } from 'zod'
import { FrameError } from '../../kernel/frame-error.ts'

/** A terminal of somebody, as people know it. */
export interface TerminalWindow {
  /** Never used twice in one container. 0 is the service. */
  readonly n: number
  readonly ownerId: string
  readonly name: string
  readonly isShared: boolean
  /** Names the terminal in binary messages and when a client comes back. Random, so that no other container has it. */
  readonly channel: number
}

/** Whoever may join shared terminals may watch the service. */
export const SERVICE_WINDOW: TerminalWindow = {
  n: 0,
  ownerId: systemAgent.id,
  name: 'service-cmd',
  isShared: true,
  channel: 0,
}

export const MAX_CHANNEL = 0xffff_ffff
const NAME = /^[A-Za-z0-9 _.-]{1,64}$/
const DEFAULT_NAME = 'term'

/** What the agent keeps for the server. Whoever holds the workspace can write it as well. */
const Label = z.object({
  n: z.int().min(1).max(1_000_000_000),
  owner: z.string().min(1).max(64),
  name: z.string().regex(NAME),
  shared: z.boolean(),
  channel: z.int().min(1).max(MAX_CHANNEL),
})

/** As clients name it. */
export const windowId = ({ n }: Pick<TerminalWindow, 'n'>): string => `@${n}`
/** As the agent names it. */
export const terminalId = ({ n }: Pick<TerminalWindow, 'n'>): string => (n === 0 ? SERVICE_TERMINAL : `w${n}`)

export function labelOf({ n, ownerId, name, isShared, channel }: TerminalWindow): string {
  return JSON.stringify({ n, owner: ownerId, name, shared: isShared, channel } satisfies z.input<typeof Label>)
}

/** Undefined for a terminal that is not one of ours. */
export function windowFrom({ id, label }: { readonly id: string; readonly label: string }): TerminalWindow | undefined {
  const read = Label.safeParse(parseJson(label))
  if (!read.success) return undefined
  const { n, owner, name, shared, channel } = read.data
  return id === terminalId({ n }) ? { n, ownerId: owner, name, isShared: shared, channel } : undefined
}

/** The name that somebody wants for a window. */
export function requireName(wish: string | undefined): string {
  if (wish === undefined) return DEFAULT_NAME
  if (NAME.test(wish)) return wish
  throw new FrameError('invalid', 'A name has 1 to 64 letters, digits, spaces, or any of . _ -')
}

/** All windows of one person, in their order. */
export const windowsToWire = (windows: readonly TerminalWindow[], active: TerminalWindow | undefined): Window[] =>
  windows.map(({ n, name }, index) => ({ id: windowId({ n }), index, name, active: n === active?.n }))

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
