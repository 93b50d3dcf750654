/** What the local engine does not keep apart, for the log at the start and for `svcd doctor`. */
export const localLimits: readonly string[] = [
  'Workspaces share the network of the host: they reach its loopback addresses and each other, and published ports are not mapped.',
  'Where nobody signs in, a program in a workspace with an open network can use this server as its one person does.',
  'Processor, memory and the number of processes are not limited; only the size of /tmp is.',
  'All workspaces run as one user of the host; a process that breaks out of its namespaces is that user.',
  'There are no images: a workspace sees the programs in /usr and the settings in /etc of the host, read-only.',
  'Nobody can become root in a workspace, so sudo does not work and packages cannot be installed.',
]
