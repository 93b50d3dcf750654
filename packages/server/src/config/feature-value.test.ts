import { expect, test } from 'vitest'
import { MemoryLog } from '../testing/memory-log.ts'
import { featureValue, parseFeaturesConfig } from './feature-value.ts'
import { createReferenceReader } from './references.ts'

const KEY = 'SVCWS_FEATURE_GIT_HOST'

function sources(env: Record<string, string>, config: Record<string, string>) {
  const readReference = createReferenceReader({ env: { PATH: '/usr/bin:/bin' }, home: '/' })
  return { logger: new MemoryLog(), env, config: parseFeaturesConfig(config), readReference }
}

test.each([
  ['the variable wins', { [KEY]: 'env' }, { [KEY]: 'block' }, 'env'],
  ['then the full key of the block', {}, { [KEY]: 'full', git_host: 'short' }, 'full'],
  ['then the short one', {}, { git_host: 'short' }, 'short'],
  ['then the default of the feature', {}, {}, 'default'],
  ['an empty variable is not set', { [KEY]: '' }, { git_host: 'short' }, 'short'],
  ['references are resolved', { [KEY]: 'cmd:echo looked-up' }, {}, 'looked-up'],
])('%s', async (_, env, config, value) => {
  expect(await featureValue(KEY, 'default', sources(env, config))).toBe(value)
})

test('a broken variable gives the default, not the block, and is logged without the reference', async () => {
  const given = sources({ [KEY]: 'file:/nowhere/hidden' }, { git_host: 'block' })
  expect(await featureValue(KEY, 'default', given)).toBe('default')
  expect(given.logger.records.map(({ message }) => message)).toEqual([
    `${KEY} refers to a file that cannot be read: no such file or directory; using the default of the feature`,
  ])
})

test('a feature named like a property of every object has no value by itself', async () => {
  expect(await featureValue('SVCWS_FEATURE_CONSTRUCTOR', undefined, sources({}, {}))).toBeUndefined()
})
