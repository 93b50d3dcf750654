import { expect, test } from 'vitest'
import { type AdmissionFacts, type AdmissionSettings, requireRoom } from './admission-rules.ts'

const GIB = 1024 ** 3
const settings: AdmissionSettings = {
  admissionMemoryEnabled: true,
  admissionMemoryMarginBytes: GIB,
  maxRunningPerUser: 2,
}
const facts: AdmissionFacts = {
  available: { bytes: 9 * GIB, fraction: 0.5 },
  memoryLimitBytes: 8 * GIB,
  promisedBytes: 0,
  runningOfOwner: 1,
}

const verdict = (changed: Partial<AdmissionFacts>, set: Partial<AdmissionSettings> = {}) => {
  try {
    requireRoom({ ...facts, ...changed }, { ...settings, ...set })
    return 'admitted'
  } catch (error) {
    return error instanceof Error ? `${Reflect.get(error, 'code')}: ${error.message}` : error
  }
}

test('a workspace fits when its limit and the margin are there, to the byte', () => {
  expect(verdict({})).toBe('admitted')
  expect(verdict({ available: { bytes: 9 * GIB - 1, fraction: 0.5 } })).toMatch(/^capacity_reached/)
})

test('the refusal names what there is and what is wanted', () => {
  expect(verdict({ promisedBytes: 2 * GIB })).toBe(
    'capacity_reached: The machine has 9 GiB of memory left, and 11 GiB would be wanted: 8 GiB for this workspace, ' +
      '2 GiB for others that are starting and 1 GiB in reserve',
  )
})

test.each<[string, Partial<AdmissionFacts>, Partial<AdmissionSettings>]>([
  ['memory that cannot be measured', { available: undefined }, {}],
  ['a workspace without a limit', { memoryLimitBytes: undefined, available: { bytes: 0, fraction: 0 } }, {}],
  ['the check being off', { available: { bytes: 0, fraction: 0 } }, { admissionMemoryEnabled: false }],
])('%s turns nobody away', (_, changed, set) => {
  expect(verdict(changed, set)).toBe('admitted')
})

test('an owner with as many running as allowed is asked to stop one, in numbers', () => {
  expect(verdict({ runningOfOwner: 2 })).toBe(
    'running_limit_reached: The owner has 2 workspaces running and may have 2 ' +
      '(SVCD_MAX_RUNNING_WORKSPACES_PER_USER): stop one first',
  )
  expect(verdict({ runningOfOwner: 99 }, { maxRunningPerUser: 0 })).toBe('admitted')
})
