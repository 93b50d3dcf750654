/** The variables a process was started with. */
export type Environment = Readonly<Record<string, string | undefined>>

/** This process's variables, as they are now. The only place that reads them. */
export function processEnvironment(): Environment {
  // biome-ignore lint/style/noProcessEnv: every other file gets the environment handed in
  return { ...process.env }
}
