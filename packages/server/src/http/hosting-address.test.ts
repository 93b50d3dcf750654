import { expect, test } from 'vitest'
import { externalUrl, type HostClaims, type HostingSettings } from './hosting-address.ts'

const none: HostClaims = {
  host: undefined,
  forwardedHost: undefined,
  forwardedProto: undefined,
  forwardedPrefix: undefined,
}
const plain: HostingSettings = {
  hostingHostname: undefined,
  hostingProto: undefined,
  hostingBasePath: undefined,
  tlsHostname: undefined,
  listen: '192.0.2.10',
  port: 8080,
}

test.each<[string, Partial<HostClaims>, Partial<HostingSettings>, string]>([
  ['a loopback name is ours', { host: 'localhost:8080' }, {}, 'http://localhost:8080'],
  ['a loopback address is ours', { host: '127.0.0.1:8080' }, {}, 'http://127.0.0.1:8080'],
  ['so is the IPv6 one', { host: '[::1]:8080' }, {}, 'http://[::1]:8080'],
  ['the address we listen on is ours', { host: '192.0.2.10:8080' }, {}, 'http://192.0.2.10:8080'],
  ['a forged host is not', { host: 'evil.example' }, {}, 'http://localhost:8080'],
  ['nor one that only begins like ours', { host: 'localhost.evil.example' }, {}, 'http://localhost:8080'],
  ['nor one with a user name', { host: 'localhost@evil.example' }, {}, 'http://localhost:8080'],
  ['nor one with a path', { host: 'localhost/evil' }, {}, 'http://localhost:8080'],
  ['nor a port that cannot be', { host: 'localhost:99999' }, {}, 'http://localhost:8080'],
  ['no host at all', {}, {}, 'http://localhost:8080'],
  ['a headless server has no port to name', {}, { port: undefined }, 'http://localhost'],
  [
    'a trusted proxy is believed',
    { forwardedHost: 'dev.example.com', forwardedProto: 'https', forwardedPrefix: '/svc' },
    {},
    'https://dev.example.com/svc',
  ],
  ['but not every text of it', { forwardedHost: 'a b', forwardedProto: 'javascript' }, {}, 'http://localhost:8080'],
  ['an unsafe prefix is dropped', { host: 'localhost:8080', forwardedPrefix: '//evil' }, {}, 'http://localhost:8080'],
  [
    'settings win over everybody',
    { host: 'localhost', forwardedHost: 'other.example' },
    { hostingHostname: 'svc.example.com', hostingProto: 'https', hostingBasePath: '/dev/' },
    'https://svc.example.com/dev',
  ],
  [
    'the TLS name is ours and means https',
    { host: 'svc.example.com' },
    { tlsHostname: 'svc.example.com' },
    'https://svc.example.com',
  ],
])('%s', (_, claims, settings, expected) => {
  expect(externalUrl({ ...none, ...claims }, { ...plain, ...settings })).toBe(expected)
})
