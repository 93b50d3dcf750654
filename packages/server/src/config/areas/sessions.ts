import { choice, float, integer } from '../builders.ts'

export const sessionRows = {
  accessTokenHours: float({
    env: 'SVCD_ACCESS_TOKEN_HOURS',
    default: 24,
    reload: 'live',
    doc: 'Hours a session token stays valid; clients renew it before that.',
  }),
  maxPerUser: integer({
    env: 'SVCD_MAX_SESSIONS_PER_USER',
    default: 0,
    min: 0,
    reload: 'live',
    doc: 'Sessions one person may have; a further sign-in ends the oldest. 0 means no limit.',
  }),
  idleTimeoutMinutes: integer({
    env: 'SVCD_SESSION_IDLE_TIMEOUT_MINUTES',
    default: 0,
    min: 0,
    reload: 'live',
    doc: 'Minutes without activity after which a session ends. 0 turns the limit off.',
  }),
  privilegedIdleTimeoutMinutes: integer({
    env: 'SVCD_PRIVILEGED_SESSION_IDLE_TIMEOUT_MINUTES',
    default: 10,
    min: 0,
    reload: 'live',
    doc: 'The shorter idle limit of administrators, while the limit is on. 0 gives them the common one.',
  }),
  workstationBinding: choice({
    env: 'SVCD_SESSION_WORKSTATION_BINDING',
    values: ['off', 'ip', 'strict'],
    default: 'off',
    reload: 'live',
    doc: 'Ends a session used from another network (ip), or from another network or browser (strict).',
  }),
  stepUpWindowMinutes: integer({
    env: 'SVCD_STEP_UP_WINDOW_MINUTES',
    default: 0,
    min: 0,
    reload: 'live',
    doc: 'Minutes a confirmed password allows administrative changes; 15 is a good value. 0 asks for none.',
  }),
  webBindGraceSeconds: integer({
    env: 'SVCD_WEB_BIND_GRACE_SECONDS',
    default: 300,
    min: 0,
    reload: 'live',
    doc: 'Seconds a browser session may stay without a key of its own. 0 sets no deadline.',
  }),
}
