import { type Command, clientFrames, type FrameOf, isCommand } from '@svc/protocol/ws/client-frames'
import { isQuicklyRead } from '../kernel/json-bounds.ts'

/** Enough for a command with thousands of arguments. */
const MAX_STRUCTURE_BYTES = 32 * 1024
const MAX_REQ_LENGTH = 64
/** Of a command that does not exist, in the answer. */
const MAX_ECHO_LENGTH = 64

export interface ClientMessage {
  readonly command: Command
  readonly frame: FrameOf<Command>
  readonly req: string | undefined
}

/** No message at all, and why. */
export interface Malformed {
  readonly malformed: string
  readonly command?: string
  readonly req?: string | undefined
}

/** What a client says in a text message. */
export function readFrame(bytes: Buffer): ClientMessage | Malformed {
  if (!isQuicklyRead(bytes, { maxStructureBytes: MAX_STRUCTURE_BYTES }))
    return { malformed: 'This has more parts, or more levels, than any command' }
  const json = parse(bytes)
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return { malformed: 'This is no JSON object' }
  const req = reqIn(json)
  const command: unknown = 'cmd' in json ? json.cmd : undefined
  if (typeof command !== 'string') return { malformed: '`cmd` is missing', req }
  if (!isCommand(command)) {
    return { malformed: 'There is no such command', command: command.slice(0, MAX_ECHO_LENGTH), req }
  }
  const parsed = clientFrames[command].safeParse(json)
  if (!parsed.success) return { malformed: whyNot(parsed.error.issues[0]), command, req }
  return { command, frame: parsed.data, req }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

/** Anything else is a field we do not know, and ignored as such. */
function reqIn(json: object): string | undefined {
  const req = 'req' in json ? json.req : undefined
  return typeof req === 'string' && req.length <= MAX_REQ_LENGTH ? req : undefined
}

function whyNot(issue: { path: readonly PropertyKey[]; message: string } | undefined): string {
  if (!issue) return 'A field is wrong'
  return issue.path.length === 0 ? issue.message : `\`${issue.path.map(String).join('.')}\`: ${issue.message}`
}
