/** Another server works on the same database. `message` is a sentence for the operator and holds no password. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse'
}
