import { posix } from 'node:path'
import { MAX_PAYLOAD_BYTES } from '@svc/protocol/agent/frames'
import type { ExecRequest } from '@svc/protocol/agent/requests'
import type { FrameOf } from '@svc/protocol/ws/client-frames'
import { FrameError } from '../../kernel/frame-error.ts'
import { userEnv, type WorkspaceUser } from '../attachments/user-env.ts'

/** Room for what the agent's protocol adds. */
const MAX_REQUEST_BYTES = MAX_PAYLOAD_BYTES - 1024

/** Both outputs into one pipe, so that their order is the one in which the command wrote. The arguments stay as they are. */
const MERGE_ERRORS = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh'] as const

type Wanted = Pick<FrameOf<'exec_start'>, 'command' | 'login' | 'cwd' | 'env'>

/** What the agent is asked to run; throws `FrameError` for what no system could run. */
export function execRequest(
  wanted: Wanted,
  { user, mergeErrors }: { user: WorkspaceUser; mergeErrors: boolean },
): Omit<ExecRequest, 'op'> {
  const { command, login, cwd = '.', env = {} } = wanted
  if (command[0] === '') throw new FrameError('invalid', 'There is no command to run')
  for (const name of Object.keys(env)) {
    if (name === '' || name.includes('=')) throw new FrameError('invalid', 'No variable can have such a name')
  }
  const texts = [...command, cwd, ...Object.entries(env).flat()]
  if (texts.some((text) => text.includes('\0') || !text.isWellFormed())) {
    throw new FrameError('invalid', 'A command cannot hold a NUL or half a character')
  }
  const request = {
    argv: mergeErrors ? [...MERGE_ERRORS, ...command] : command,
    login,
    cwd: posix.resolve(user.userHome, cwd),
    // The client's own come last: a command can change them all anyway.
    env: { ...userEnv(user), ...env },
  }
  if (Buffer.byteLength(JSON.stringify(request)) > MAX_REQUEST_BYTES) {
    throw new FrameError('too_large', 'The command is longer than any system takes')
  }
  return request
}
