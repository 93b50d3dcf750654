import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'
import type { Sandbox, SandboxView } from './sandbox.ts'

/** Whether this machine lets the sandbox do its work. */
export async function worksWith(sandbox: Sandbox, network: SandboxView['network']): Promise<boolean> {
  const emptyDirectory = await mkdtemp(join(tmpdir(), 'svcd-sandbox-'))
  try {
    const { file, args } = await sandbox.command({
      hostname: 'trial',
      network,
      tmpBytes: undefined,
      files: [],
      mounts: [],
      hidden: [],
      emptyDirectory,
      script: '/dev/null',
    })
    return (await runProgram(file, args)).code === 0
  } finally {
    await rm(emptyDirectory, { recursive: true, force: true })
  }
}
