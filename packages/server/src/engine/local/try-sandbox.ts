import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'
import type { Sandbox, SandboxParts, SandboxView } from './sandbox.ts'

/** Undefined where the program is not installed, or this machine does not let it do its work. */
export async function trySandbox<T extends Sandbox>(
  Kind: new (parts: SandboxParts) => T,
  program: string,
  isRoot: boolean,
): Promise<T | undefined> {
  const version = await runProgram(program, ['--version'])
  const trial = new Kind({ name: '', hasNetworks: true, isRoot })
  if (version.code !== 0 || !(await worksWith(trial, 'isolated'))) return undefined
  return new Kind({ name: version.output.trim(), hasNetworks: await worksWith(trial, 'none'), isRoot })
}

async function worksWith(sandbox: Sandbox, network: SandboxView['network']): Promise<boolean> {
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
