import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { errorCode } from '../../kernel/error-code.ts'
import { damaged } from './tar/tar-header.ts'
import { type ReadBudget, readTar, type TarEntry } from './tar/tar-reader.ts'

/** Large enough that a file is read in few steps, small enough that none of them holds the others up. */
const PIECE_BYTES = 64 * 1024

/**
 * The members of a `.tar.gz`, unpacked as they are asked for. Several packings one behind the other are one, as
 * everywhere; behind the last only zeros may follow. An abort ends it with the signal's reason.
 */
export function readArchive(file: string, budget: ReadBudget, signal?: AbortSignal): AsyncGenerator<TarEntry, void> {
  const unpacked = createGunzip({ chunkSize: PIECE_BYTES })
  // The iteration below sees every failure; the callback only says that somebody looks.
  pipeline(createReadStream(file, { highWaterMark: PIECE_BYTES }), unpacked, () => {})
  return readTar(pieces(unpacked, signal), budget)
}

async function* pieces(unpacked: AsyncIterable<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of unpacked) {
      signal?.throwIfAborted()
      yield piece
    }
  } catch (error) {
    throw isPackingFault(error) ? damaged('it cannot be unpacked as gzip') : error
  }
}

const isPackingFault = (error: unknown): boolean => errorCode(error)?.startsWith('Z_') ?? false
