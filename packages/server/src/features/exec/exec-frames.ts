import { MAX_INPUT_LENGTH } from '@svc/protocol/ws/client-frames'
import type { BinaryRow, FrameRows } from '../../kernel/frame.ts'
import { bytesFromBase64 } from '../../kernel/frame-bytes.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { findSignal } from './exec-signal.ts'
import { EXEC_PERMISSION, type Execs } from './execs.ts'

type Commands = 'exec_start' | 'exec_input' | 'exec_close_stdin' | 'exec_signal' | 'exec_stop'

/** Of a command that runs already: who could start it may go on with it, until the right is taken away. */
const ofLiveOne = { lane: 'exec', needs: 'nothing' } as const

export const execFrames = (execs: Execs): FrameRows<Attachment, Commands> => ({
  exec_start: {
    scope: 'workspace',
    lane: 'exec',
    needs: EXEC_PERMISSION,
    refusal: { message: `Running commands and syncing files here needs the ${EXEC_PERMISSION} permission` },
    handle: ({ attachment, frame, reply }) =>
      execs.start(attachment, frame, ({ execId, channel }) =>
        reply({ type: 'exec_started', exec_id: execId, channel }),
      ),
  },
  exec_input: {
    scope: 'workspace',
    ...ofLiveOne,
    handle({ peer, frame }) {
      const bytes = bytesFromBase64(frame.data, { maxBytes: MAX_INPUT_LENGTH })
      execs.of(peer).find(frame)?.write(bytes)
    },
  },
  exec_close_stdin: {
    scope: 'workspace',
    ...ofLiveOne,
    handle: ({ peer, frame }) => execs.of(peer).find(frame)?.closeInput(),
  },
  exec_signal: {
    scope: 'workspace',
    ...ofLiveOne,
    handle({ peer, frame }) {
      const signal = findSignal(frame.signal)
      if (signal === undefined) throw new FrameError('invalid', 'There is no such signal')
      execs.of(peer).find(frame)?.signal(signal)
    },
  },
  exec_stop: {
    scope: 'workspace',
    ...ofLiveOne,
    handle: ({ peer, frame }) => execs.of(peer).stop(frame),
  },
})

export const execBinary = (execs: Execs): BinaryRow<Attachment> => ({
  lane: 'exec',
  handle({ peer, frame: { channel, payload } }) {
    if (payload.length > MAX_INPUT_LENGTH) throw new FrameError('too_large', `More than ${MAX_INPUT_LENGTH} bytes`)
    execs.of(peer).findByChannel(channel)?.write(payload)
  },
})
