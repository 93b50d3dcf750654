/**
 * What a client can ask for with `hello`. A client that says nothing gets the plain protocol.
 * - `req`: commands carry `req`, which direct answers and errors repeat; those without an answer get `ack`.
 * - `bin`: terminal, exec and ssh-agent bytes travel as binary messages (`binary-frames.ts`).
 * - `flow`: the client says with `terminal_ack` how much it has dealt with, and is sent no more than a window ahead.
 * - `resume`: `terminal_started` and output say where in the output they are, and `terminal_start` can go on from there.
 * - `exec2`: several commands at once, each with an id, with standard error apart.
 * - `ssh2`: several connections to the client's ssh agent at once.
 * - `progress`: the stages of a start are told (`container_progress`).
 * - `exit`: the end of a shown terminal is told (`terminal_exited`); without it another window is shown instead.
 * - `size`: the size of the shown terminal is told (`terminal_resized`), which another viewer may have set.
 */
export const capabilities = ['req', 'bin', 'flow', 'resume', 'exec2', 'ssh2', 'progress', 'exit', 'size'] as const

export type Capability = (typeof capabilities)[number]

export const isCapability = (text: string): text is Capability => capabilities.some((known) => known === text)

/** Output of one terminal that may be on its way to a client with `flow`, and where sending goes on again. */
export const FLOW_WINDOW_BYTES = 1024 * 1024
/** A client with `flow` acknowledges at least this often. */
export const FLOW_STEP_BYTES = 256 * 1024
