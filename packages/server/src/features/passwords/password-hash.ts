import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { AppError } from '../../kernel/app-error.ts'
import { clientKey } from '../../kernel/client-key.ts'
import { hasTooManyBytes, TOO_MANY_BYTES } from './password-bytes.ts'
import { DIGEST_BYTES, formatStoredHash, MAX_ITERATIONS, parseStoredHash, type StoredHash } from './stored-hash.ts'
import { WorkLine } from './work-line.ts'

const DEFAULT_ITERATIONS = 600_000
const SALT_BYTES = 16
/** In the whole line: enough for ten clients who each bring all they may. */
const MAX_WAITING = 500
/** An office behind one address that signs in at the same moment. Others wait for at most one of them. */
const MAX_WAITING_PER_CLIENT = 50
/** A hash takes some hundred milliseconds. */
const RETRY_AFTER_SECONDS = 5
/** One processor stays free for the event loop, and one of the four threads Node shares with files and DNS. */
const hashesAtOnce = () => Math.max(1, Math.min(3, availableParallelism() - 1))

/** The slow function. Tests put a counting one here, to see how often it runs and to hold it up. */
export type Derive = (password: string, salt: Buffer, iterations: number) => Promise<Buffer>

const pbkdf2OnPool = promisify(pbkdf2)
const pbkdf2Sha512: Derive = (password, salt, iterations) =>
  pbkdf2OnPool(password, salt, iterations, DIGEST_BYTES, 'sha512')

/**
 * Makes and checks password hashes off the event loop. One per process, because the line is its own. `client` is the
 * address of who asks, undefined when there is none: clients take turns, so that none of them can fill the line.
 */
export class PasswordHasher {
  readonly #iterations: number
  readonly #derive: Derive
  readonly #dummy: StoredHash
  readonly #line = new WorkLine({
    atOnce: hashesAtOnce(),
    maxWaiting: MAX_WAITING,
    maxWaitingPerKey: MAX_WAITING_PER_CLIENT,
    refusal: () =>
      new AppError('unavailable', 'Too many people are signing in at the moment; try again in a few seconds', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      }),
  })

  constructor(parts: { iterations?: number; derive?: Derive } = {}) {
    this.#iterations = parts.iterations ?? DEFAULT_ITERATIONS
    if (!Number.isInteger(this.#iterations) || this.#iterations < 1 || this.#iterations > MAX_ITERATIONS) {
      throw new RangeError(`iterations must be a whole number from 1 to ${MAX_ITERATIONS}`)
    }
    this.#derive = parts.derive ?? pbkdf2Sha512
    this.#dummy = {
      iterations: this.#iterations,
      salt: randomBytes(SALT_BYTES),
      digest: randomBytes(DIGEST_BYTES),
    }
  }

  async hash(password: string, client: string | undefined): Promise<string> {
    // Nobody could ever sign in with it.
    if (hasTooManyBytes(password)) throw new AppError('password_rejected', TOO_MANY_BYTES)
    const salt = randomBytes(SALT_BYTES)
    const digest = await this.#run({ password, salt, iterations: this.#iterations }, client)
    return formatStoredHash({ iterations: this.#iterations, salt, digest })
  }

  /**
   * Whether `password` is the one behind `stored`; null stands for an account that is unknown or has no password.
   * Every answer costs one full hash, so that its time does not tell which accounts exist.
   */
  async verify(password: string, stored: string | null, client: string | undefined): Promise<boolean> {
    const known = stored === null ? undefined : parseStoredHash(stored)
    const tooLong = hasTooManyBytes(password)
    const { salt, iterations, digest } = known ?? this.#dummy
    const candidate = await this.#run({ password: tooLong ? '' : password, salt, iterations }, client)
    const same = timingSafeEqual(candidate, digest)
    return same && known !== undefined && !tooLong
  }

  #run(input: { password: string; salt: Buffer; iterations: number }, client: string | undefined): Promise<Buffer> {
    const { password, salt, iterations } = input
    const key = client === undefined ? undefined : clientKey(client)
    return this.#line.run(() => this.#derive(password, salt, iterations), key)
  }
}
