import type { ContainerSpec } from '../container-engine.ts'

/** The user of every workspace, as in a container. */
export const WORKSPACE_ID = 1000

/** What a workspace sees of the host, beside the system's own files. */
export interface SandboxView {
  readonly hostname: string
  readonly network: ContainerSpec['network']
  readonly tmpBytes: number | undefined
  /** Made for this workspace; each takes the place of the host's file. Mounted read-only. */
  readonly files: readonly { readonly source: string; readonly target: string }[]
  readonly mounts: readonly { readonly source: string; readonly target: string; readonly readOnly: boolean }[]
  /** Directories of the server, which no workspace may see. */
  readonly hidden: readonly string[]
  /** On the host, for the sandbox to work in. */
  readonly emptyDirectory: string
  /** A shell script in the view. */
  readonly script: string
}

export interface SandboxParts {
  readonly name: string
  readonly hasNetworks: boolean
  /** The server is root. */
  readonly isRoot: boolean
}

/** A program that gives a command namespaces of its own. */
export interface Sandbox {
  readonly name: string
  /** It can leave a workspace without a network. */
  readonly hasNetworks: boolean
  /** Standard input and output are set by the caller; file 3 takes the status (`sandbox-status.ts`), 4 is for the script. */
  command(view: SandboxView): Promise<{ readonly file: string; readonly args: readonly string[] }>
}
