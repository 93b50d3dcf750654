import { describe } from 'vitest'
import { confinementTests } from './suite/confinement.ts'
import { contentTests } from './suite/content.ts'
import { deathTests } from './suite/deaths.ts'
import { useEngine } from './suite/engine-bench.ts'
import type { EngineKind } from './suite/engine-kind.ts'
import { failedStartTests } from './suite/failed-starts.ts'
import { lifeTests } from './suite/life.ts'
import { storageTests } from './suite/storage.ts'

/** What every driver must do, the same tests for all of them. */
export function engineSuite(kind: EngineKind): void {
  const title = kind.missing === undefined ? kind.name : `${kind.name} (left out: ${kind.missing})`
  describe.skipIf(kind.missing !== undefined)(`${title}: container engine`, () => {
    const bench = useEngine(kind)
    lifeTests(bench)
    contentTests(bench)
    confinementTests(bench)
    deathTests(bench)
    failedStartTests(bench)
    storageTests(bench)
  })
}
