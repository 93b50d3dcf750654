import { expect, test } from 'vitest'
import { findViolations } from './check-imports.ts'

const objections = (path: string, text: string) => findViolations([{ path, text }])

test.each([
  [
    'packages/web/src/app/shell.tsx',
    "import { readFile } from 'node:fs/promises'",
    'packages/web does not run on Node',
  ],
  ['packages/protocol/src/errors.ts', "import { createClient } from '@svc/client/http'", 'must not know @svc/client'],
  [
    'packages/server/src/http/guard.ts',
    "import { AuditLog } from '../features/audit/audit-log.ts'",
    'http must not know features',
  ],
  [
    'packages/server/src/kernel/clock.ts',
    "import type { Storage } from '../storage/storage.ts'",
    'kernel must not know storage',
  ],
  [
    'packages/server/src/features/users/user-service.ts',
    "import { X } from '../audit/audit-store.ts'",
    'keeps that to itself',
  ],
  [
    'packages/server/src/features/users/user-service.ts',
    "import { open } from '../../storage/sqlite/open-sqlite.ts'",
    'only the process picks',
  ],
  ['packages/server/src/app.ts', "import { FakeClock } from './testing/fake-clock.ts'", 'app.ts must not know testing'],
  [
    'packages/server/src/app.ts',
    "import {\n  a,\n  b,\n} from './testing/fake-clock.ts'",
    'app.ts must not know testing',
  ],
  ['packages/server/src/main.ts', "import x from '../../web/src/app.ts'", 'reaches out of packages/server'],
  ['packages/web/src/ui/card.tsx', "import { useHealth } from '../data/health.ts'", 'ui must not know data'],
  ['packages/server/src/http/a.ts', "const x = await import('../config/load.ts')", 'http must not know config'],
  [
    'packages/server/src/features/a/a.ts',
    "import { loadSettings } from '../../config/load-settings.ts'",
    'gets its settings handed in',
  ],
  ['packages/server/src/novel/a.ts', "import '../kernel/clock.ts'", 'has no row'],
])('%s: %s is refused', (path, text, why) => {
  expect(objections(path, text)).toEqual([expect.stringContaining(why)])
})

test.each([
  ['packages/server/src/features/users/user-service.ts', "import { AuditLog } from '../audit/audit-log.ts'"],
  ['packages/server/src/features/audit/audit-log.ts', "import type { AuditStore } from './audit-store.ts'"],
  ['packages/server/src/features/audit/audit-log.test.ts', "import { FakeClock } from '../../testing/fake-clock.ts'"],
  ['packages/server/src/features/a/a.ts', "import type { Settings } from '../../config/settings.ts'"],
  ['packages/web/src/pages/status/page.tsx', "import { useHealth } from '../../data/health.ts'"],
  ['packages/client/src/http.ts', "import { Health } from '@svc/protocol/instance'"],
])('%s: %s is fine', (path, text) => {
  expect(objections(path, text)).toEqual([])
})
