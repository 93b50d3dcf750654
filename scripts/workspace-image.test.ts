import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMixedCgroups } from '../packages/server/src/engine/docker/oci-runtime.ts'

const run = promisify(execFile)
const IMAGE = 'svc-workspace:latest'
const missing = whatIsMissing()
const name = `svc-image-test-${randomUUID()}`
/** A runtime may not raise what this process has. */
const limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024']
/** As workspaces have them: container root is nobody on the host. */
const idMaps = ['--uidmap=0:1000000:65536', '--gidmap=0:1000000:65536']

/** The prompt as it is drawn, without its colours. */
const promptCommand = [
  `HOME=/etc/skel bash -ic 'cd /tmp; __svc_prompt; echo "\${PS1@P}"' 2> /dev/null`,
  `tr -d '\\001\\002'`,
  `sed 's/\\x1b\\[[0-9;]*m//g'`,
].join(' | ')

describe.skipIf(missing !== undefined)(`the workspace image${missing ? ` (left out: ${missing})` : ''}`, () => {
  beforeAll(() =>
    podman('run', '--detach', '--name', name, ...idMaps, ...limits, '--network=none', IMAGE, 'sleep', 'infinity'),
  )
  afterAll(() => podman('rm', '--force', '--time=0', name))

  test.each([
    [
      'everybody is svc, ids 1000:1000, whose home in passwd is /home',
      'id -un; id -u; id -g; getent passwd svc',
      ['svc', '1000', '1000', 'svc:x:1000:1000::/home:/bin/bash'],
    ],
    [
      'a login shell speaks UTF-8 and edits with nano',
      'echo $LANG $EDITOR; locale charmap',
      ['en_US.UTF-8 nano', 'UTF-8'],
    ],
    ['manual pages are there', 'man -w ls open | sed "s,.*/,,"', ['ls.1.gz', 'open.2.gz']],
    [
      'Node is of the pinned series and npm installs into the home',
      'node -v | cut -d. -f1; npm prefix -g',
      ['v24', '/tmp/home/.local'],
    ],
    ['C programs build and run', 'cd /tmp && echo "int main(){return 7;}" > a.c && cc -o a a.c; ./a; echo $?', ['7']],
    [
      'Python makes virtual environments with pip',
      'python3 -m venv /tmp/v && /tmp/v/bin/pip --version | cut -d" " -f1',
      ['pip'],
    ],
    [
      'tools have the names people know',
      'for t in bat fd rg fzf jq; do command -v $t; done',
      ['/usr/local/bin/bat', '/usr/local/bin/fd', '/usr/bin/rg', '/usr/bin/fzf', '/usr/bin/jq'],
    ],
    [
      'only these programs can gain a privilege',
      'find / -xdev -type f -perm /6000 2> /dev/null | sort',
      ['/usr/bin/passwd', '/usr/bin/ping', '/usr/bin/su', '/usr/bin/sudo'],
    ],
    ['nobody has sudo before the agent says so', 'sudo -n true 2>&1', ['sudo: a password is required']],
    [
      'nothing in it belongs to one machine',
      'ls /etc/machine-id /etc/ssh/ssh_host_* /var/lib/apt/lists/*Packages* 2> /dev/null',
      [],
    ],
    ['a new home gets our prompt', promptCommand, [expect.stringMatching(/^svc@\w+:\/tmp\$ $/)]],
  ])('%s', async (_, command, lines) => {
    const env = ['--env', 'HOME=/tmp/home', '--env', 'TERM=xterm-256color']
    const { stdout } = await podman('exec', '--user=1000:1000', ...env, name, 'bash', '-lc', `${command}; true`)
    expect(stdout.split('\n').slice(0, -1)).toEqual(lines)
  })
})

function podman(...args: string[]) {
  const runtime = hasMixedCgroups(readFileSync('/proc/self/mounts', 'utf8')) ? ['--runtime=runc'] : []
  return run('podman', [...runtime, ...args])
}

function whatIsMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root'
  const { status, error } = spawnSync('podman', ['image', 'exists', IMAGE])
  if (error) return 'podman is not installed'
  return status === 0 ? undefined : 'it is not built'
}
