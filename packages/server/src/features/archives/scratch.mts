import { gzipSync } from 'node:zlib'
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { packed, rawMember, TAR_END } from '../../testing/tar-blocks.ts'
import { described, INSTANCE } from '../../testing/start-archives.ts'
import { listArchive } from './list-archive.ts'
import { readDescription } from './archive-description.ts'
import { importedConfiguration } from './imported-configuration.ts'
import { UnpackBudget } from './unpack-budget.ts'
import { systemClock } from '../../kernel/clock.ts'
import { sanitizeImportedEnv } from '../workspaces/env.ts'
const D = process.argv[2]!
const parts = [described()]
for (let i = 0; i < 200_000; i++) parts.push(rawMember({ name: `home/d${i % 100}/file-${i}` }, 'x'))
writeFileSync(`${D}/a.tar.gz`, gzipSync(Buffer.concat([...parts, TAR_END]), { level: 1 }))
parts.length = 0
const h = monitorEventLoopDelay({ resolution: 1 }); h.enable()
const t = performance.now()
await listArchive(`${D}/a.tar.gz`, new UnpackBudget({ freeBytes: 1e12, maxMb: undefined }), systemClock)
const s = (performance.now() - t) / 1000
console.log('200k entries in', s.toFixed(2), 's =', Math.round(200_000 / s), '/s; loop p99', h.percentile(99) / 1e6, 'max', h.max / 1e6)
const env: Record<string, string> = {}
for (let i = 0; i < 75_000; i++) env[`K${i}`] = ''
for (const [what, text] of [['env', JSON.stringify({ instance_id: INSTANCE, env })], ['deep', '['.repeat(500_000) + ']'.repeat(500_000)], ['list', `{"instance_id":"${INSTANCE}","mounts":[${'"a",'.repeat(250_000)}"a"]}`], ['domains', `{"instance_id":"${INSTANCE}","allowed_domains":[${'"a",'.repeat(250_000)}"a"]}`]] as const) {
  for (let round = 0; round < 3; round++) {
  let t = performance.now()
  let d: any
  try { d = readDescription(Buffer.from(text), INSTANCE) } catch (e: any) { d = undefined }
  const a = performance.now() - t
  t = performance.now()
  const rules: any = { defaults: {}, read: () => ({}), requireOffered: async () => {} }
  if (d) await importedConfiguration(d, rules).catch((e) => console.log(e.message))
  console.log(what, text.length, 'parse', a.toFixed(1), 'ms; configuration', (performance.now() - t).toFixed(1), 'ms')
  }
}
