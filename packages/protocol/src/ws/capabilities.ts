/** What a client can ask for with `hello`. A client that says nothing gets the plain protocol. */
export const capabilities = ['req', 'bin', 'flow', 'resume', 'exec2', 'ssh2', 'progress', 'exit', 'size'] as const

export type Capability = (typeof capabilities)[number]

export const capabilityMeanings: Readonly<Record<Capability, string>> = {
  req: 'Commands carry `req`, which direct answers and errors repeat; those without an answer get `ack`',
  bin: 'Terminal, exec and ssh agent bytes travel as binary messages',
  flow: 'The client says with `terminal_ack` how much it has dealt with, and is sent no more than a window ahead',
  resume: '`terminal_started` and output say where in the output they are, and a start can go on from there',
  exec2: 'Several commands at once, each with an id, with standard error apart',
  ssh2: 'Several connections to the client’s ssh agent at once',
  progress: 'The stages of a start are told',
  exit: 'The end of a shown terminal is told; without it another window is shown instead',
  size: 'The size of the shown terminal is told, which another viewer may have set',
}

export const isCapability = (text: string): text is Capability => capabilities.some((known) => known === text)

/** Output of one terminal that may be on its way to a client with `flow`, and where sending goes on again. */
export const FLOW_WINDOW_BYTES = 1024 * 1024
/** A client with `flow` acknowledges at least this often. */
export const FLOW_STEP_BYTES = 256 * 1024
