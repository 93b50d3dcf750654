import type { Peers } from '../../kernel/peer.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

/** Tells people that their list of workspaces is out of date. The answer ends it. */
export const hintAtLists = (peers: Peers, workspaces: Pick<Workspaces, 'changed'>): (() => void) =>
  workspaces.changed.subscribe(({ userIds }) => {
    for (const userId of userIds) {
      for (const peer of peers.of(userId)) peer.send({ type: 'workspaces-changed' })
    }
  })
