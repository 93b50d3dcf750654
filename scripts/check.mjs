// `npm run check`: types, lint, format, imports and printed references; seconds, no network, nothing started.
import { spawn } from 'node:child_process'
import { ensureDependencies, node, root, toolEnv } from './setup.mjs'

const projects = [
  'packages/protocol',
  'packages/client',
  'packages/client/tsconfig.node.json',
  'packages/agent',
  'packages/server',
  'packages/web',
  'packages/web/tsconfig.node.json',
  'e2e',
  'bench',
  'scripts',
]

const checks = [
  ...projects.map((project) => [`types of ${project}`, 'tsc', ['-p', project]]),
  ['lint and format', 'biome', ['ci', '--colors=off', '--error-on-warnings', '.']],
  ['import directions', node, ['scripts/check-imports.ts']],
  ['printed reference', node, ['scripts/print-reference.ts', '--check']],
]

/** Runs every check, two at a time, and prints what failed. Answers how many passed and failed. */
export async function check() {
  await ensureDependencies()
  const waiting = [...checks]
  const failed = []
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [title, command, args] = next
      const { code, output } = await capture(command, args)
      console.log(`${code === 0 ? '✓' : '✗'} ${title}`)
      if (code !== 0) failed.push({ title, output })
    }
  }
  await Promise.all([worker(), worker()])
  for (const { title, output } of failed) console.log(`\n── ${title} ──\n${output}`)
  return { passed: checks.length - failed.length, failed: failed.length }
}

function capture(command, args) {
  const child = spawn(command, args, { cwd: root, env: toolEnv, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

if (process.argv[1] === import.meta.filename) process.exit((await check()).failed === 0 ? 0 : 1)
