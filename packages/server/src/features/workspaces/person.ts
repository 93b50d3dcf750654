import { AppError } from '../../kernel/app-error.ts'
import type { Account } from '../accounts/account.ts'
import { type Accounts, requireHuman } from '../accounts/accounts.ts'

/** Somebody by address or handle; never the system agent. */
export async function requirePerson(
  accounts: Pick<Accounts, 'findByIdentifier'>,
  identifier: string,
): Promise<Account> {
  const account = await accounts.findByIdentifier(identifier)
  if (!account) throw new AppError('not_found', 'User not found')
  requireHuman(account.id)
  return account
}
