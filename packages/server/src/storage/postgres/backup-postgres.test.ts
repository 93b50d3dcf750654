import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { backupPostgres } from './backup-postgres.ts'

/** Stands in for the real program, and writes the `sslmode` it was given into the backup. */
const PG_DUMP = `#!/bin/sh
for argument; do
  case $argument in --file=*) echo "$PGSSLMODE" > "\${argument#--file=}" ;; esac
done
`

test.each([
  { ours: 'no-verify', theirs: 'require' },
  { ours: 'verify-full', theirs: 'verify-full' },
])('the sslmode $ours of the URL is $theirs for pg_dump', async ({ ours, theirs }) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pg-dump-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'pg_dump'), PG_DUMP)
  await chmod(join(folder, 'pg_dump'), 0o755)
  vi.stubEnv('PATH', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  await backupPostgres(`postgres://svc:secret@127.0.0.1:5432/svc?sslmode=${ours}`, join(folder, 'backup'))
  expect(await readFile(join(folder, 'backup'), 'utf8')).toBe(`${theirs}\n`)
})
