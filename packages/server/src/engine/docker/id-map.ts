/** The host's ids that stand for those in a container. */
export interface IdMap {
  readonly firstUid: number
  readonly firstGid: number
  readonly size: number
}

/** Numbers no account has, on a machine that has set none aside. */
const FIRST_ID = 1_000_000
/** Ids 0 to 65535: all that images use, `nobody` included. */
const MAP_SIZE = 65_536
/** Whose range in `/etc/subuid` is meant for containers that root starts. */
const OWNERS = ['svc', 'containers']

export function chooseIdMap(subuid: string, subgid: string): IdMap {
  return { firstUid: firstId(subuid), firstGid: firstId(subgid), size: MAP_SIZE }
}

function firstId(text: string): number {
  const rows = text.split('\n').map((line) => line.trim().split(':'))
  for (const owner of OWNERS) {
    const row = rows.find(([name, , count]) => name === owner && Number(count) >= MAP_SIZE)
    const first = Number(row?.[1])
    if (Number.isSafeInteger(first) && first > 0) return first
  }
  return FIRST_ID
}
