import { capabilityMeanings } from '@svc/protocol/ws/capabilities'
import { type Command, clientFrames } from '@svc/protocol/ws/client-frames'
import { closeCodeMeanings, closeCodes } from '@svc/protocol/ws/close-codes'
import { frameErrorMeanings, serverFrameMeanings } from '@svc/protocol/ws/server-frames'
import type { FrameNeed, FrameTable } from '../../packages/server/src/kernel/frame.ts'
import { code, printedFrom, table } from './markdown.ts'

export function websocketPage(frames: FrameTable<never>): string {
  const commands = Object.entries(clientFrames).map(([name, shape]) => [
    code(name),
    Object.keys(shape.shape).map(code).join(', '),
    needsOf(frames, name as Command),
    shape.meta()?.description ?? '',
  ])
  return `# WebSocket

${printedFrom('the frames of the contract and the frame table of the server')}

A client connects to \`/ws\` and offers two subprotocols, \`bearer\` and its session token; the server selects \`bearer\`.
Messages are JSON objects. A client says what it wants in \`cmd\`, the server what it tells in \`type\`. Unknown fields are
ignored on both sides. Every command may carry \`req\`, a text of at most 64 characters that its answer repeats.

## Commands

"Needs" is a permission on the workspace that is open on this connection. It is looked at with every message.

${table(['Command', 'Fields', 'Needs', 'What it does'], commands)}

## What the server says

${table(['Type', 'Meaning'], rowsOf(serverFrameMeanings))}

## Refusals

\`{"type": "error", "message": "…", "code": "…"}\`. The connection goes on.

${table(['Code', 'Meaning'], rowsOf(frameErrorMeanings))}

## What a client can ask for

\`{"cmd": "hello", "v": 1, "client": "my-program/1.0", "caps": ["bin", "resume"]}\`, before anything else.

${table(['Capability', 'Meaning'], rowsOf(capabilityMeanings))}

## Binary messages

With \`bin\`: one byte of kind, four bytes of channel, eight bytes of offset (all big endian), then the bytes themselves.
Kinds: 1 output of a terminal, 2 input of a terminal, 3 standard output of a command, 4 its standard error, 5 its standard
input, 6 ssh agent, 7 the screen of a terminal anew. The offset is the place of the first byte in its stream; for a screen,
where the output goes on; for what a client sends, 0.

## Close codes

${table(
  ['Code', 'Meaning'],
  Object.entries(closeCodes).map(([name, number]) => [
    String(number),
    closeCodeMeanings[name as keyof typeof closeCodes],
  ]),
)}
`
}

function needsOf(frames: FrameTable<never>, command: Command): string {
  const row = frames[command]
  return row.scope === 'connection' ? 'nothing' : inWords(row.needs)
}

function inWords(needs: FrameNeed): string {
  if (needs === 'nothing') return 'an open workspace'
  return typeof needs === 'string' ? code(needs) : needs.anyOf.map(code).join(' or ')
}

const rowsOf = (meanings: Readonly<Record<string, string>>) =>
  Object.entries(meanings).map(([name, meaning]) => [code(name), meaning])
