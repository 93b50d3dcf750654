import { describe, expect, test } from 'vitest'
import { appsHostOf, isApart } from './apps-host.ts'

const ID = '3f0f5a1e-1111-4222-8333-444455556666'
const OTHER = '3f0f5a1e-1111-4222-8333-444455557777'

describe('a host is for hosted applications', () => {
  test.each<[string | undefined, string, string | undefined]>([
    [undefined, `${ID}.localhost:8080`, ID],
    [undefined, `${ID}.localhost`, ID],
    [undefined, 'localhost:8080', undefined],
    [undefined, 'x.localhost', undefined],
    [undefined, `${ID}.example.com`, undefined],
    [undefined, `a${ID}.localhost`, undefined],
    ['*.apps.example.com', `${ID}.apps.example.com`, ID],
    ['*.apps.example.com', `${ID}.apps.example.com:8443`, ID],
    ['*.apps.example.com', `${ID}.localhost`, undefined],
    ['*.example.com', 'svc.example.com', undefined],
    ['apps.example.com', 'apps.example.com', 'any'],
    ['apps.example.com', 'apps.example.com:8443', undefined],
    ['apps.example.com:443', 'apps.example.com', 'any'], // browsers leave it away, and would be led in a circle
    ['apps.example.com', 'apps.example.com:443', 'any'],
    ['apps.example.com:8443', 'apps.example.com', undefined],
    ['svc.example.com', 'svc.example.com', undefined],
    ['svc.example.com:443', 'svc.example.com', undefined],
  ])('configured %s, asked %s: %s', (hostedAppsHostname, host, expected) => {
    expect(appsHostOf(host, { hostedAppsHostname, hostingHostname: 'svc.example.com' })).toBe(expected)
  })

  test('and keeps only its own workspace apart', () => {
    const settings = { hostedAppsHostname: undefined, hostingHostname: undefined }
    expect(isApart(`${ID}.localhost`, ID, settings)).toBe(true)
    expect(isApart(`${ID}.localhost`, OTHER, settings)).toBe(false)
    expect(isApart('', ID, settings)).toBe(false)
  })
})
