import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Tests that need a certificate are skipped without it: `test.skipIf(!hasOpenssl())` */
export const hasOpenssl = (): boolean => spawnSync('openssl', ['version']).status === 0

/** A new certificate for the address 127.0.0.1, signed by itself and valid for a day. Made by the `openssl` program. */
export async function makeCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-certificate-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
    const names = ['-subj', '/CN=svc test', '-addext', 'subjectAltName=IP:127.0.0.1']
    await run('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert])
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
  } finally {
    await rm(folder, { recursive: true })
  }
}
