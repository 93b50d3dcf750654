import { expect, test } from 'vitest'
import { type ContainerEnvFacts, containerEnv, hostingAddress } from './container-env.ts'

const facts: ContainerEnvFacts = {
  workspaceId: 'w1',
  ports: [
    { container: 8000, host: 9000 },
    { container: 8001, host: 9007 },
  ],
  hosting: { hostname: 'svc.example.com', proto: 'https', basePath: '/svc' },
  egressPort: 8995,
  terminalBanner: 'Be kind',
}

test('a workspace is told who it is, how to reach the server, and where its ports lead', () => {
  expect(containerEnv(facts)).toEqual({
    SVCWS_LLM_PROXY_URL: 'http://host.containers.internal:8995/llm-proxy',
    SVCWS_PORT_MAPPINGS: '8000:9000,8001:9007',
    SVCWS_HOSTING_HOSTNAME: 'svc.example.com',
    SVCWS_HOSTING_PROTO: 'https',
    SVCWS_HOSTING_BASE_PATH: '/svc',
    SVCWS_WORKSPACE_ID: 'w1',
    SVCWS_AGENT_HOME: '/home/svc',
    SVCWS_BRIDGE_URL: 'http://host.containers.internal:8995',
    USER: 'svc',
    LOGNAME: 'svc',
    SVCWS_TERMINAL_BANNER: 'Be kind',
  })
})

test('without ports nothing is said of hosting, and without a banner nothing of it', () => {
  const names = Object.keys(containerEnv({ ...facts, ports: [], terminalBanner: '' }))
  expect(names.filter((name) => /HOSTING|PORT_MAPPINGS|BANNER/.test(name))).toEqual([])
})

const unset = { hostname: undefined, proto: undefined, basePath: undefined }

test.each([
  [unset, undefined, { hostname: 'localhost', proto: 'http', basePath: '' }],
  [unset, 'https://a.example:8443/svc', { hostname: 'a.example:8443', proto: 'https', basePath: '/svc' }],
  [unset, 'http://localhost:8080', { hostname: 'localhost:8080', proto: 'http', basePath: '' }],
  [
    { hostname: 'b.example', proto: 'https', basePath: '' },
    'http://localhost:8080/x',
    { hostname: 'b.example', proto: 'https', basePath: '' },
  ],
])('with %j and a request to %s people come by %j', (settings, url, address) => {
  expect(hostingAddress(settings, url)).toEqual(address)
})
