import { expect, test } from 'vitest'
import type { LifecycleNews } from '../lifecycle/lifecycle-news.ts'
import { framesFor } from './news-frames.ts'

const NO_RESTART = { attempts: 0, inSeconds: null, gaveUp: false }

/** `monitors` or `attached`, and what they are told. */
const told = (news: LifecycleNews) =>
  framesFor(news).map((one) => (one.to === 'monitors' ? ['monitors', one.frame] : ['attached', one.event]))

const OFF = ['monitors', { type: 'container_status', workspace_id: 'w', running: false }]
const stopped = (reason: string) => ['attached', { name: 'container_stopped', value: { reason } }]

test.each<[string, LifecycleNews, unknown[]]>([
  [
    'a start',
    { kind: 'started', workspaceId: 'w', cause: 'api', serviceStartedAt: 12.5 },
    [
      ['monitors', { type: 'container_status', workspace_id: 'w', running: true, service_started_at: 12.5 }],
      ['attached', { name: 'container_ready', value: { reason: 'The workspace was started' } }],
    ],
  ],
  [
    'a start of nobody knows when',
    { kind: 'started', workspaceId: 'w', cause: 'crash_restart', serviceStartedAt: null },
    [
      ['monitors', { type: 'container_status', workspace_id: 'w', running: true }],
      ['attached', { name: 'container_ready', value: { reason: 'The workspace was started again after a crash' } }],
    ],
  ],
  ['the begin of a stop', { kind: 'stopping', workspaceId: 'w', cause: 'stop', reason: 'shut down by user' }, [OFF]],
  [
    'the end of a stop',
    { kind: 'stopped', workspaceId: 'w', cause: 'stop', reason: 'shut down by user' },
    [stopped('shut down by user')],
  ],
  [
    'an idle stop, of which those in it hear first',
    { kind: 'stopping', workspaceId: 'w', cause: 'idle_timeout', reason: 'idle timeout' },
    [stopped('idle timeout'), OFF],
  ],
  ['its end', { kind: 'stopped', workspaceId: 'w', cause: 'idle_timeout', reason: 'idle timeout' }, []],
  [
    'an eviction',
    { kind: 'evicted', workspaceId: 'w', reason: 'host memory pressure' },
    [['monitors', { type: 'workspace_evicted', workspace_id: 'w', reason: 'host memory pressure' }]],
  ],
  [
    'a death',
    { kind: 'died', workspaceId: 'w', cause: 'oom', message: 'no memory', restart: NO_RESTART },
    [
      [
        'attached',
        {
          name: 'container_died',
          value: {
            cause: 'oom',
            message: 'no memory',
            restart_attempts: 0,
            restart_scheduled: false,
            gave_up: false,
          },
        },
      ],
    ],
  ],
  [
    'a death with a restart to come',
    {
      kind: 'died',
      workspaceId: 'w',
      cause: 'exited',
      message: 'code 1',
      restart: { attempts: 2, inSeconds: 8, gaveUp: false },
    },
    [
      [
        'attached',
        {
          name: 'container_died',
          value: {
            cause: 'exited',
            message: 'code 1',
            restart_attempts: 2,
            restart_scheduled: true,
            restart_in_seconds: 8,
            gave_up: false,
          },
        },
      ],
    ],
  ],
  [
    'a service that is unwell',
    { kind: 'health', workspaceId: 'w', healthy: false, message: 'exited 1', running: true, checkedAt: 0, seq: 3 },
    [
      [
        'monitors',
        {
          type: 'service_health',
          workspace_id: 'w',
          healthy: false,
          health_message: 'exited 1',
          running: true,
          health_checked_at: '1970-01-01T00:00:00+00:00',
          seq: 3,
        },
      ],
    ],
  ],
  ['an agent that was lost and found', { kind: 'reconnected', workspaceId: 'w' }, []],
])('%s is told to whom it concerns', (_, news, frames) => {
  expect(told(news)).toEqual(frames)
})
