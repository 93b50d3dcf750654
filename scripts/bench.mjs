// `npm run bench`: the performance table of this machine, as ratios to baselines measured in the same run.
import { ensureDependencies, ensureWebUi, node, run } from './setup.mjs'

await ensureDependencies()
await ensureWebUi()
process.exit(await run(node, ['bench/run.ts', ...process.argv.slice(2)]))
