import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { keptText } from './kept-text.ts'

const SECRET_BYTES = 32

/** The key that signs tokens while the operator has set none. Losing it ends every session and every link. */
export function generatedSigningSecret(stateDir: string): Promise<string> {
  return keptText(join(stateDir, 'jwt-secret'), {
    what: 'a signing secret',
    make: () => randomBytes(SECRET_BYTES).toString('base64url'),
    isValid: (text) => text.length >= SECRET_BYTES,
  })
}
