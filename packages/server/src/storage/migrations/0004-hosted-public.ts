import type { Migration } from './migration.ts'

/** Whether anybody may use what a workspace hosts, without signing in. */
export const hostedPublic: Migration = {
  number: 4,
  name: 'hosted_public',
  statements: [
    `alter table workspaces
      add column hosted_public {integer} not null default 0 check (hosted_public in (0, 1))`,
  ],
}
