import { describe, expect, test } from 'vitest'
import { mergeSettings, readSettings } from './settings-bag.ts'

const here = { nixAvailable: true, stored: null }

describe('the settings bag of a workspace', () => {
  test.each([
    ['idle_timeout', 0, 0],
    ['idle_timeout', '3600', 3600],
    ['idle_timeout', ' 60 ', 60],
    ['bridge_timeout', 30, 30],
    ['cpu_limit', 2, 2],
    ['cpu_limit', '1.5', 1.5],
    ['cpu_limit', '.5', 0.5],
    ['memory_limit', '4g', '4g'],
    ['memory_limit', '512MB', '512MB'],
    ['memory_limit', 1048576, '1048576'],
    ['memory_limit', '1.5gb', '1.5gb'],
    ['pids_limit', '100', 100],
    ['tmp_size', '1T', '1T'],
    ['tmp_size', ' 64k ', '64k'],
    ['nix', true, true],
    ['nix', 0, false],
    ['allow_sudo', 1, true],
    ['allow_sudo', 'Yes', true],
    ['allow_sudo', 'off', false],
  ])('%s takes %j', (key, raw, value) => {
    expect(readSettings({ [key]: raw }, here)).toEqual({ [key]: value })
  })

  test.each([
    ['idle_timeout', -1, 'a whole number, 0 or more'],
    ['idle_timeout', 1.5, 'a whole number, 0 or more'],
    ['idle_timeout', true, 'a whole number, 0 or more'],
    ['idle_timeout', '1e3', 'a whole number, 0 or more'],
    ['idle_timeout', '', 'a whole number, 0 or more'],
    ['idle_timeout', [60], 'a whole number, 0 or more'],
    ['bridge_timeout', 0, 'a whole number above 0'],
    ['pids_limit', 0, 'a whole number above 0'],
    ['pids_limit', 1e300, 'a whole number above 0'],
    ['cpu_limit', 0, 'a number above 0'],
    ['cpu_limit', 'Infinity', 'a number above 0'],
    ['cpu_limit', false, 'a number above 0'],
    ['memory_limit', '0', 'a size above 0, such as 512m or 1.5g'],
    ['memory_limit', '-1g', 'a size above 0, such as 512m or 1.5g'],
    ['memory_limit', '1x', 'a size above 0, such as 512m or 1.5g'],
    ['memory_limit', true, 'a size above 0, such as 512m or 1.5g'],
    ['memory_limit', '99999999p', 'a size above 0, such as 512m or 1.5g'],
    ['tmp_size', '', 'a size above 0, such as 512m or 1.5g'],
    ['nix', 'maybe', 'true or false'],
    ['allow_sudo', 2, 'true or false'],
    ['allow_sudo', {}, 'true or false'],
    ['allow_sudo', ['true'], 'true or false'],
  ])('%s does not take %j', (key, raw, mustBe) => {
    expect(() => readSettings({ [key]: raw }, here)).toThrow(`Setting '${key}' must be ${mustBe}`)
  })

  test.each(['gpu', 'toString', 'constructor', ''])(
    'an unknown key such as %j is named, with those there are',
    (key) => {
      expect(() => readSettings({ [key]: 1 }, here)).toThrow(
        `Unknown setting '${key}'; known settings: idle_timeout, bridge_timeout, cpu_limit, memory_limit, pids_limit, tmp_size, nix, allow_sudo`,
      )
    },
  )

  test('a bag with nothing in it is none', () => {
    expect(readSettings({}, here)).toBeNull()
    expect(readSettings({ nix: null }, here)).toBeNull()
  })

  test('a patch sets what it names, takes away what is null, and leaves the rest', () => {
    const present = { idle_timeout: 60, cpu_limit: 1, nix: true }
    const patch = { idle_timeout: '120', cpu_limit: null, allow_sudo: true }
    expect(mergeSettings(present, patch, here)).toEqual({ idle_timeout: 120, nix: true, allow_sudo: true })
    expect(mergeSettings({ cpu_limit: 1 }, { cpu_limit: null }, here)).toBeNull()
  })

  test('nix cannot be turned on where there is none, and stays on where it was', () => {
    const without = { nixAvailable: false, stored: null }
    expect(() => readSettings({ nix: true }, without)).toThrow("Setting 'nix' cannot be true")
    expect(readSettings({ nix: false }, without)).toEqual({ nix: false })
    expect(readSettings({ nix: true }, { nixAvailable: false, stored: { nix: true } })).toEqual({ nix: true })
    expect(mergeSettings({ nix: true }, { cpu_limit: 1 }, { nixAvailable: false, stored: { nix: true } })).toEqual({
      nix: true,
      cpu_limit: 1,
    })
  })
})

test('a value that is nested beyond measure is refused like any other', () => {
  const deep: unknown = JSON.parse('['.repeat(5000) + ']'.repeat(5000))
  expect(() => readSettings({ nix: deep }, here)).toThrow('true or false')
})
