import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { socketAnswers } from '../engine/docker/socket-answers.ts'

/** Exists as user and group on every Linux; its range stands in a file that only the daemon sees. */
const REMAPPED = 'daemon'

/** A private Docker daemon, with ids mapped, that can be killed and started again. Needs root. */
export class DockerDaemon {
  readonly socketPath: string
  readonly #folder: string
  /** Keeps the mounts that only the daemon sees, those of its containers too, while it is away. */
  readonly #keeper: ChildProcess
  /** What really runs the containers. Its own, because one that the daemon starts dies with it. */
  readonly #containerd: ChildProcess
  #child: ChildProcess | undefined

  private constructor(folder: string, keeper: ChildProcess) {
    this.#folder = folder
    this.#keeper = keeper
    const paths = ['--address', `${folder}/containerd.sock`, '--root', `${folder}/images`, '--state', `${folder}/run`]
    this.#containerd = spawn('nsenter', [this.#mounts, 'containerd', ...paths], { stdio: 'ignore' })
    this.socketPath = join(folder, 'docker.sock')
  }

  /** `folder` must be open to others for passing through, as the daemon asks of its root. */
  static async start(folder: string): Promise<DockerDaemon> {
    const subids = join(folder, 'subids')
    await writeFile(subids, `${REMAPPED}:1000000:65536\n`)
    const mounts = ['mount --make-rprivate /', ...['u', 'g'].map((id) => `mount --bind ${subids} /etc/sub${id}id`)]
    const script = [...mounts, 'echo ready', 'exec sleep infinity'].join(' && ')
    const keeper = spawn('unshare', ['--mount', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    await once(keeper.stdout, 'data')
    const daemon = new DockerDaemon(folder, keeper)
    while (!(await socketAnswers(join(folder, 'containerd.sock')))) await wait(20)
    await daemon.#spawn()
    return daemon
  }

  async restartAfterKill(): Promise<void> {
    await end(this.#child, 'SIGKILL')
    await this.#spawn()
  }

  async stop(): Promise<void> {
    await end(this.#child, 'SIGTERM')
    await end(this.#containerd, 'SIGTERM')
    await end(this.#keeper, 'SIGKILL')
  }

  async #spawn(): Promise<void> {
    const folder = this.#folder
    const child = spawn(
      'nsenter',
      [
        this.#mounts,
        'dockerd',
        ...['--containerd', `${folder}/containerd.sock`],
        ...['--data-root', `${folder}/root`, '--exec-root', `${folder}/exec`, '--pidfile', `${folder}/pid`],
        ...['--host', `unix://${this.socketPath}`, '--bridge', 'none', '--live-restore', '--userns-remap', REMAPPED],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    this.#child = child
    let words = ''
    child.stderr.on('data', (chunk) => {
      words = `${words}${chunk}`.slice(-2000)
    })
    while (!words.includes('API listen on') || !(await socketAnswers(this.socketPath))) {
      if (child.exitCode !== null) throw new Error(`the Docker daemon did not start: ${words}`)
      await wait(20)
    }
  }

  get #mounts(): string {
    return `--mount=/proc/${this.#keeper.pid}/ns/mnt`
  }
}

async function end(child: ChildProcess | undefined, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}
