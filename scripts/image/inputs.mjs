// What the workspace image is made of. The digest of it is a label of the image, so that nothing is built twice.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../setup.mjs'

const folder = join(root, 'images/workspace')
const nodePackage = join(root, `node_modules/node-linux-${process.arch}`)

/** Changes whenever the image would. `base` is the image it starts from, if it starts from one. */
export function digestOfInputs(base) {
  const hash = createHash('sha256')
  // This file, too: it says which parts of Node go in.
  for (const file of [...filesBelow(folder), join(nodePackage, 'package.json'), import.meta.filename]) {
    hash
      .update(file.slice(root.length))
      .update('\0')
      .update(`${statSync(file).mode & 0o111}`)
    hash.update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.update(base ?? '').digest('hex')
}

/** Names of the Debian packages. */
export function packageNames() {
  return readFileSync(join(folder, 'packages.txt'), 'utf8')
    .replace(/#.*/g, '')
    .split(/\s+/)
    .filter((name) => name !== '')
}

/** Fills `context` with all that both ways of building need: the files of images/workspace, with Node and npm added. */
export function prepareContext(context) {
  cpSync(folder, context, { recursive: true })
  const local = join(context, 'rootfs/usr/local')
  const modules = join(local, 'lib/node_modules/npm')
  mkdirSync(modules, { recursive: true })
  for (const part of ['bin', 'include', 'share/man']) {
    cpSync(join(nodePackage, part), join(local, part), { recursive: true, filter: isForThisMachine })
  }
  unpackNpm(modules, context)
  readable(context)
}

/** Node brings OpenSSL's headers for every system there is, 50 MB of them. */
function isForThisMachine(path) {
  const system = /\/openssl\/archs\/([^/]+)/.exec(path)?.[1]
  return system === undefined || system === 'linux-x86_64' || system === 'linux-aarch64'
}

/** From the registry that this machine's npm is set up for. */
function unpackNpm(target, scratch) {
  const version = readFileSync(join(folder, 'npm-version.txt'), 'utf8').trim()
  const packed = must('npm', ['pack', '--silent', `npm@${version}`, '--pack-destination', scratch])
  const archive = join(scratch, packed.trim().split('\n').at(-1) ?? '')
  must('tar', ['-xzf', archive, '-C', target, '--strip-components=1', '--no-same-owner'])
}

function must(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', cwd: root })
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} failed: ${error?.message ?? stderr.trim()}`)
  return stdout
}

/** The umask of whoever builds must not decide who may read the image's files. */
function readable(path) {
  chmodSync(path, 0o755)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) readable(child)
    else if (entry.isFile()) chmodSync(child, statSync(child).mode & 0o111 ? 0o755 : 0o644)
  }
}

function filesBelow(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
