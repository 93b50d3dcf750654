// `npm run bench`: the performance table of this machine, as ratios to baselines measured in the same run.
import {
  ensureAgent,
  ensureDependencies,
  ensureEngine,
  ensureWebUi,
  ensureWorkspaceImage,
  node,
  run,
} from './setup.mjs'

await ensureDependencies()
await ensureWebUi()
await ensureAgent()
await ensureEngine()
await ensureWorkspaceImage()
process.exit(await run(node, ['bench/run.ts', ...process.argv.slice(2)]))
