import { InstanceConfig, Version } from '@svc/protocol/instance'
import type { Settings } from '../../config/settings.ts'
import { Reply, type Route, route } from '../../kernel/route.ts'
import { publicConfig } from './public-config.ts'
import { type Build, versionReply } from './version.ts'

interface InstanceParts {
  readonly instanceId: string
  readonly build: () => Build
  readonly settings: () => Settings
}

export const instanceRoutes = ({ instanceId, build, settings }: InstanceParts): Route[] => [
  route({
    method: 'GET',
    path: '/version',
    tag: 'Server',
    summary: 'Which build this is',
    needs: 'anyone',
    reply: Version,
    handle: () => versionReply(build()),
  }),
  route({
    method: 'GET',
    path: '/config',
    tag: 'Server',
    summary: 'What a client must know before it shows a sign-in page',
    needs: 'anyone, better signed in',
    reply: InstanceConfig,
    handle: ({ caller }) => publicConfig(settings(), instanceId, caller ? 'signed in' : 'visitor'),
  }),
  route({
    method: 'GET',
    path: '/empty',
    base: 'root',
    tag: 'Server',
    summary: 'Nothing, quickly: for probes and for measuring the way here',
    needs: 'anyone',
    reply: { mediaType: 'text/plain', description: 'A body of no bytes' },
    handle: () => new Reply('', { headers: { 'content-type': 'text/plain; charset=utf-8' } }),
  }),
]
