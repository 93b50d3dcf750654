import type { Lane } from '../kernel/frame.ts'

type WaitingLane = Exclude<Lane, 'free'>
const waitingLanes: readonly WaitingLane[] = ['workspace', 'terminal', 'exec', 'ssh']

/** Who waits for whom among the commands of one socket; see `Lane`. */
export class Lanes {
  /** The last of each lane that is not done. */
  readonly #tails = new Map<WaitingLane, Promise<void>>()

  mustWait(lane: Lane): boolean {
    if (lane === 'free') return false
    return lane === 'workspace' ? this.#tails.size > 0 : this.#tails.has(lane)
  }

  /** Runs `work` when its turn comes: at once if it can be. It must not fail. */
  run(lane: Lane, work: () => void | Promise<void>): void {
    if (lane === 'free') {
      void work()
      return
    }
    const done = this.mustWait(lane) ? this.#before(lane).then(work) : work()
    if (done === undefined) return
    const mine = lane === 'workspace' ? waitingLanes : [lane]
    const tail = done.then(() => {
      for (const each of mine) if (this.#tails.get(each) === tail) this.#tails.delete(each)
    })
    for (const each of mine) this.#tails.set(each, tail)
  }

  async #before(lane: WaitingLane): Promise<void> {
    await (lane === 'workspace' ? Promise.all(this.#tails.values()) : this.#tails.get(lane))
  }
}
