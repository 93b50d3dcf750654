import { type BinaryKind, binaryKindMeanings, binaryKinds } from '@svc/protocol/ws/binary-frames'
import { capabilityMeanings } from '@svc/protocol/ws/capabilities'
import { type Command, clientFrames } from '@svc/protocol/ws/client-frames'
import { closeCodeMeanings, closeCodes } from '@svc/protocol/ws/close-codes'
import { frameErrorMeanings, serverFrameMeanings } from '@svc/protocol/ws/server-frames'
import type { Attachment } from '../../packages/server/src/features/attachments/attachment.ts'
import { type FrameNeed, type FrameTable, permissionsNamed } from '../../packages/server/src/kernel/frame.ts'
import { code, printedFrom, table } from './markdown.ts'

export function websocketPage(frames: FrameTable<Attachment>): string {
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
The offset is the place of the first byte in its stream; in what a client sends it is 0.

${table(
  ['Kind', 'Meaning'],
  Object.entries(binaryKinds).map(([name, number]) => [String(number), binaryKindMeanings[name as BinaryKind]]),
)}

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

function needsOf(frames: FrameTable<Attachment>, command: Command): string {
  const row = frames[command]
  return row.scope === 'connection' ? 'nothing' : inWords(row.needs)
}

function inWords(needs: FrameNeed): string {
  if (needs === 'nothing') return 'an open workspace'
  if (typeof needs === 'string') return code(needs)
  return permissionsNamed(needs)
    .map(code)
    .join('anyOf' in needs ? ' or ' : ' and ')
}

const rowsOf = (meanings: Readonly<Record<string, string>>) =>
  Object.entries(meanings).map(([name, meaning]) => [code(name), meaning])
