/** Where the agent finds and keeps things, and for whom. All of it is fixed in a container; the local engine moves it. */
export interface Places {
  /** Where the server connects. */
  readonly socket: string
  /** Holds the homes; belongs to the workspace's user. */
  readonly homes: string
  /** Holds the workspace token; for the workspace's user alone. */
  readonly runtime: string
  /** The user whom everything runs as. The agent gives up root for it, unless it is that user already. */
  readonly userId: number
}

export const containerPlaces: Places = {
  socket: '/run/svc/agent.sock',
  homes: '/home',
  runtime: '/tmp/svc',
  userId: 1000,
}

/** The home that all members share, unless each has one of their own. */
export const sharedHome = (places: Places): string => `${places.homes}/svc`
