/** A person who can sign in, or the system agent, who never does. Moments are epoch seconds. */
export interface Account {
  readonly id: string
  readonly email: string
  readonly handle: string
  /** How often the address was changed. */
  readonly addressChanges: number
  readonly verified: boolean
  /** `local`, `system`, or the identity provider that vouches for them. */
  readonly provider: string
  /** Null for accounts that have no password. */
  readonly passwordHash: string | null
  readonly passwordSetAt: number | null
  readonly mustChangePassword: boolean
  readonly disabled: boolean
  readonly createdAt: number
  readonly lastLoginAt: number | null
  readonly lastActivityAt: number | null
}

export interface GroupName {
  readonly id: string
  readonly name: string
}

/** What every request asks about the person behind it; answered from memory. */
export interface Standing {
  readonly userId: string
  readonly email: string
  readonly handle: string
  readonly disabled: boolean
  readonly mustChangePassword: boolean
  /** When the password's age counts from; null for accounts without one. */
  readonly passwordAgesFrom: number | null
  readonly groups: readonly GroupName[]
  readonly groupIds: ReadonlySet<string>
}

/** Everybody who gets an account joins this group. */
export const MEMBERS = 'members'
/** Its members run the installation. */
export const ADMINS = 'admins'

export const isAdmin = ({ groups }: Pick<Standing, 'groups'>): boolean => groups.some(({ name }) => name === ADMINS)
