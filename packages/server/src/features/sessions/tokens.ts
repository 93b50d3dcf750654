import { createSecretKey, type KeyObject } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import type { Clock } from '../../kernel/clock.ts'
import { dropOldest } from '../../kernel/drop-oldest.ts'

/** What a token is for. One made for a purpose is worthless for every other. */
export type Purpose = 'session' | 'verify' | 'reset' | 'invite' | 'workspace' | 'hosted' | 'hosted-entry'

/** Claims of ours, beside those every token has. */
export interface Claims {
  /** The user, the invitation or the workspace it is about. */
  readonly sub: string
  readonly email?: string
  readonly jti?: string
  /** Which password a reset link is for. */
  readonly pwb?: string
  /** Which address of the account a link was sent to. */
  readonly adr?: number
  /** The container it was put into. */
  readonly cid?: string
  /** The session in which it was made. */
  readonly sid?: string
  /** The workspace whose applications it opens. */
  readonly wid?: string
}

export interface Verified extends Claims {
  readonly expiresAt: number
}

/** The token is not one of ours, not for this, or too old. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}

const ALGORITHM = 'HS256'
const TYPE = 'JWT'
/** Ours have some three hundred characters. */
const MAX_LENGTH = 2048
/** Nothing between the parts: a decoder that skips white space would let one token have any number of spellings. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** Session tokens whose signature was checked before; a check costs more than the rest of the sign-in. */
const CHECKED_KEPT = 10_000

/** Makes and checks signed tokens. Their issuer is this instance, so two that share a secret do not mix. */
export class Tokens {
  readonly #secret: () => string
  readonly #issuer: string
  readonly #clock: Clock
  #key: { readonly secret: string; readonly object: KeyObject } | undefined
  /** Memory also holds the key that makes any token, so a token in it gives nothing more away. */
  readonly #checked = new Map<string, Verified>()

  constructor(parts: { secret: () => string; issuer: string; clock: Clock }) {
    this.#secret = parts.secret
    this.#issuer = parts.issuer
    this.#clock = parts.clock
  }

  /** The same claims and moments always give the same text. */
  sign(purpose: Purpose, claims: Claims, moments: { issuedAt: number; expiresAt: number }): Promise<string> {
    return new SignJWT({ ...claims, purpose })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
      .setIssuer(this.#issuer)
      .setIssuedAt(Math.floor(moments.issuedAt))
      .setExpirationTime(Math.floor(moments.expiresAt))
      .sign(this.#currentKey())
  }

  /** Throws `TokenRefused`. */
  async verify(purpose: Purpose, token: string): Promise<Verified> {
    return claimsOf(await this.#payload(purpose, token, this.#clock.nowMs()))
  }

  /** Also takes a token that has expired, for those who only want to know whose it was. */
  async verifyEvenIfExpired(purpose: Purpose, token: string): Promise<Verified> {
    return claimsOf(await this.#payload(purpose, token, 0))
  }

  /** A session token that was checked before, for the way every request takes; undefined when it must be verified. */
  peekSession(token: string): Verified | undefined {
    this.#currentKey()
    const checked = this.#checked.get(token)
    return checked && checked.expiresAt * 1000 > this.#clock.nowMs() ? checked : undefined
  }

  async verifySession(token: string): Promise<Verified> {
    const verified = await this.verify('session', token)
    this.#checked.set(token, verified)
    dropOldest(this.#checked, CHECKED_KEPT)
    return verified
  }

  async #payload(purpose: Purpose, token: string, nowMs: number): Promise<JWTPayload> {
    if (token.length > MAX_LENGTH || !COMPACT.test(token)) throw new TokenRefused('not a token')
    try {
      const { payload } = await jwtVerify(token, this.#currentKey(), {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: this.#issuer,
        currentDate: new Date(nowMs),
        requiredClaims: ['sub', 'exp', 'iat', 'purpose'],
      })
      if (payload.purpose !== purpose) throw new TokenRefused('for another purpose')
      return payload
    } catch (cause) {
      if (cause instanceof TokenRefused) throw cause
      throw new TokenRefused('not verified', { cause })
    }
  }

  /** A secret changed by a reload makes every token void, remembered ones too. */
  #currentKey(): KeyObject {
    const secret = this.#secret()
    if (this.#key?.secret !== secret) {
      this.#key = { secret, object: createSecretKey(secret, 'utf8') }
      this.#checked.clear()
    }
    return this.#key.object
  }
}

function claimsOf({ sub, exp, email, jti, pwb, adr, cid, sid, wid }: JWTPayload): Verified {
  if (sub === undefined || exp === undefined) throw new TokenRefused('incomplete')
  return {
    sub,
    expiresAt: exp,
    ...(typeof email === 'string' ? { email } : {}),
    ...(typeof jti === 'string' ? { jti } : {}),
    ...(typeof pwb === 'string' ? { pwb } : {}),
    ...(typeof adr === 'number' ? { adr } : {}),
    ...(typeof cid === 'string' ? { cid } : {}),
    ...(typeof sid === 'string' ? { sid } : {}),
    ...(typeof wid === 'string' ? { wid } : {}),
  }
}
