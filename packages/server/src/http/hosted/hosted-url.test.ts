import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isHosted, parseHostedUrl } from './hosted-url.ts'

const ID = '3f0f5a1e-1111-4222-8333-444455556666'
const at = (rest: string) => `/hosted/${ID}/9000${rest}`

describe('an address of a hosted application', () => {
  test.each<[string, string | undefined]>([
    ['/', '/'],
    ['/a/b?c=d', '/a/b?c=d'],
    ['', undefined],
    ['?a=/b', undefined],
    ['/../..', '/../..'],
    ['/%2e%2e/%2E%2e/x', '/%2e%2e/%2E%2e/x'],
    [`/../../${ID}/9001/`, `/../../${ID}/9001/`],
    ['//', '//'],
    ['//evil.example/', '//evil.example/'],
    ['/a%2Fb', '/a%2Fb'],
    ['/%', '/%'],
    ['/a?b?c#d', '/a?b?c#d'],
    ['/hosted/x/1/', '/hosted/x/1/'],
  ])('%j reaches the application as %j', (rest, path) => {
    expect(parseHostedUrl(at(rest))).toMatchObject({ workspaceId: ID, hostPort: 9000, path })
  })

  test('the host that some clients write before it does not count', () => {
    expect(parseHostedUrl(`http://example.com${at('/a')}`)).toMatchObject({ workspaceId: ID, path: '/a' })
    expect(parseHostedUrl(`HTTPS://example.com:1${at('?x')}`)).toMatchObject({ path: undefined, query: '?x' })
  })

  test.each([
    '/hosted',
    '/hosted/',
    `/hosted/${ID}`,
    `/hosted/${ID}/`,
    `/hosted/${ID}/x/`,
    `/hosted/${ID}/0/`,
    `/hosted/${ID}/09000/`,
    `/hosted/${ID}/+9000/`,
    `/hosted/${ID}/9000.0/`,
    `/hosted/${ID}/65536/`,
    `/hosted/${ID}/99999/`,
    `/hosted/${ID}%2f9000/`,
    `/hosted/${ID.toUpperCase()}/9000/`,
    '/hosted/not-an-id/9000/',
    '/hosted/../9000/',
  ])('%s is ours and leads nowhere', (url) => {
    expect(isHosted(url)).toBe(true)
    expect(parseHostedUrl(url)).toBeUndefined()
  })

  test.each(['/', '/api/v1/version', '/hostedx', '//hosted/', '/%68osted/', '/a/hosted/'])('%s is not ours', (url) => {
    expect(isHosted(url)).toBe(false)
    expect(parseHostedUrl(url)).toBeUndefined()
  })

  test('whatever stands behind the prefix is passed on to the letter', () => {
    fc.assert(
      fc.property(fc.webPath(), fc.webQueryParameters(), (path, query) => {
        const rest = `/${path}?${query}`
        expect(parseHostedUrl(at(rest))?.path).toBe(rest)
      }),
    )
  })
})
