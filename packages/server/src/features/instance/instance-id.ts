import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { keptText } from './kept-text.ts'

const InstanceId = z.uuid()

/**
 * The name of this installation, made once and kept in the data directory, so that it moves with the data. Everything
 * this instance owns is labelled with it.
 */
export function instanceId(dataDir: string): Promise<string> {
  return keptText(join(dataDir, 'instance-id'), {
    what: 'an instance id',
    make: randomUUID,
    isValid: (text) => InstanceId.safeParse(text).success,
  })
}
