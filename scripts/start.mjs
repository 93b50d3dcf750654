// `npm start`: from a fresh checkout to a running server for one person on this machine. State lives in .svc/.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ensureAgent, ensureDependencies, ensureEngine, ensureWebUi, ensureWorkspaceImage, root } from './setup.mjs'

const FIRST_PORT = 8080
const LAST_PORT = 8099
/** One Ctrl-C reaches us twice, from the terminal and through npm; a person's second one comes later. */
const SAME_KEYPRESS_MS = 300

await ensureDependencies()
const home = join(root, '.svc')
const configDir = process.env.SVCD_CONFIG_DIR ?? join(home, 'config')
await ensureConfig(configDir)
await ensureAgent()
await ensureWebUi()
await ensureContainers()
runServer({
  SVCD_CONFIG_DIR: configDir,
  SVCD_STATE_DIR: join(home, 'state'),
  SVCD_DATA_DIR: join(home, 'data'),
  ...process.env,
})

/** Workspaces run in containers where that can be had. Where not, the server still starts, and it is said why. */
async function ensureContainers() {
  const wanted = setting('engine') ?? 'auto'
  if (wanted === 'local' || wanted === 'kubernetes') return
  const { isThere, missing } = await ensureEngine()
  if (!isThere)
    console.log('There is no container engine: workspaces run as processes of this machine (engine `local`).')
  if (missing.length > 0) {
    console.log(`Missing for workspaces in containers: ${missing.join(' ')}. To install it, as root:`)
    console.log(`  apt-get install --no-install-recommends ${missing.join(' ')}`)
  }
  if (!isThere) return
  // Whoever names another image has made it, too.
  if (setting('image_name') !== undefined) return
  const obstacle = await ensureWorkspaceImage()
  if (obstacle) console.log(`There is no workspace image: ${obstacle}`)
}

/** A simple setting as the server will read it: from the environment, else from the file. */
function setting(name) {
  const file = join(configDir, 'svcd.yaml')
  const written = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const line = new RegExp(`^${name}:\\s*["']?([^\\s"'#]+)`, 'm').exec(written)
  return process.env[`SVCD_${name.toUpperCase()}`] || line?.[1]
}

/** The first start writes down a free port, so that the address stays the same from then on. */
async function ensureConfig(folder) {
  const file = join(folder, 'svcd.yaml')
  if (existsSync(file)) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const port = await freePort()
  const text = `# Settings of the server that \`npm start\` runs. Every one is explained in docs/reference/settings.md;\n# an environment variable of the same name wins over this file.\nport: ${port}\n`
  writeFileSync(file, text, { mode: 0o600 })
}

async function freePort() {
  for (let port = FIRST_PORT; port <= LAST_PORT; port++) if (await isFree(port)) return port
  console.error(`No port between ${FIRST_PORT} and ${LAST_PORT} is free: set SVCD_PORT to one that is`)
  process.exit(1)
}

function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/** The server gets its own process group, so that each signal reaches it once, through us. */
function runServer(env) {
  for (const name of ['SVCD_STATE_DIR', 'SVCD_DATA_DIR']) mkdirSync(env[name], { recursive: true, mode: 0o700 })
  const server = spawn(join(root, 'bin/svcd'), process.argv.slice(2), { stdio: 'inherit', env, detached: true })
  let last = { signal: '', at: 0 }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const repeated = last.signal === signal && performance.now() - last.at < SAME_KEYPRESS_MS
      last = { signal, at: performance.now() }
      // A closed terminal window sends HUP. To the daemon that would mean "read the settings again".
      if (!repeated) server.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal)
    })
  }
  server.on('exit', (code, signal) => process.exit(signal ? 1 : code))
}
