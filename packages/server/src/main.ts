import { Signals } from './process/signals.ts'

// First of all, and before the rest is loaded: that takes a good part of a second, in which a signal may come.
const signals = new Signals()
const { runCommand } = await import('./process/run-command.ts')
process.exit(await runCommand(process.argv.slice(2), signals))
