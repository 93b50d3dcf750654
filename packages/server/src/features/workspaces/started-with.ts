import { WorkspaceNetwork } from '@svc/protocol/lifecycle'
import * as z from 'zod'

/** What the present container of a workspace was made with: the configuration may have been edited since. */
export interface StartedWith {
  readonly network: WorkspaceNetwork
  /** Ports of the host that lead into it. */
  readonly ports: readonly number[]
  readonly memoryLimitBytes: number | undefined
  /** Undefined follows the server's default, live. */
  readonly idleSeconds: number | undefined
}

const Stored = z.object({
  network: WorkspaceNetwork,
  ports: z.array(z.int()),
  memory_limit_bytes: z.number().optional(),
  idle_seconds: z.number().optional(),
})

export const startedWithToText = ({ network, ports, memoryLimitBytes, idleSeconds }: StartedWith): string =>
  JSON.stringify({ network, ports, memory_limit_bytes: memoryLimitBytes, idle_seconds: idleSeconds })

export function startedWithFromText(text: string): StartedWith {
  const { network, ports, memory_limit_bytes, idle_seconds } = Stored.parse(JSON.parse(text))
  return { network, ports, memoryLimitBytes: memory_limit_bytes, idleSeconds: idle_seconds }
}
