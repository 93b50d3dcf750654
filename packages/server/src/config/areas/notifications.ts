import { asSecret, list, url } from '../builders.ts'
import { parseEmail } from '../formats.ts'
import { InvalidValue } from '../invalid-value.ts'

/** Every event an administrator can be told about. */
export const notifyEvents = [
  'user.create',
  'user.register',
  'user.update',
  'user.delete',
  'user.unlock',
  'user.disable',
  'user.enable',
  'user.password.change',
  'user.email.change',
  'user.handle.change',
  'group.member.add',
  'group.member.remove',
  'audit.failure',
  'resource.low',
  'resource.disk.warn',
  'resource.disk.critical',
  'resource.disk.recovered',
  'resource.memory.warn',
  'resource.memory.critical',
  'resource.memory.recovered',
  'resource.cpu.warn',
  'resource.cpu.critical',
  'resource.cpu.recovered',
] as const
export type NotifyEvent = (typeof notifyEvents)[number]

export const notificationRows = {
  emails: list({
    env: 'SVCD_ADMIN_NOTIFICATION_EMAILS',
    of: 'email addresses',
    item: parseEmail,
    default: [],
    reload: 'live',
    doc: 'Addresses that are told about administrative events.',
  }),
  // The URL of a chat system's webhook is all it takes to post there, so it is treated as a secret.
  webhookUrl: asSecret(
    url({
      env: 'SVCD_ADMIN_NOTIFICATION_WEBHOOK_URL',
      secureUnlessLoopback: true,
      reload: 'live',
      doc: 'URL that gets one JSON POST for each administrative event.',
    }),
  ),
  events: list({
    env: 'SVCD_ADMIN_NOTIFY_EVENTS',
    of: 'event names',
    item: parseEvent,
    default: notifyEvents,
    unset: 'every event',
    reload: 'live',
    doc: 'Events to tell about. An empty YAML list means none.',
  }),
}

function parseEvent(text: string): NotifyEvent {
  const event = notifyEvents.find((name) => name === text)
  if (event === undefined) throw new InvalidValue(`must be one of ${notifyEvents.join(', ')}`)
  return event
}
