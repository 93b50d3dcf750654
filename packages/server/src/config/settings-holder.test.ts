import { describe, expect, test } from 'vitest'
import { load } from '../testing/load-test-settings.ts'
import { MemoryLog } from '../testing/memory-log.ts'
import { ConfigError } from './config-error.ts'
import { SettingsHolder } from './settings-holder.ts'

/** A holder whose sources a test can change. */
async function holding(yaml: string) {
  const file = { yaml, loads: 0 }
  const logger = new MemoryLog()
  const reload = () => {
    file.loads++
    return load({}, file.yaml)
  }
  return { file, logger, holder: new SettingsHolder({ loaded: await load({}, yaml), load: reload, logger }) }
}

const secret = (letter: string) => `${letter}0123456789abcdef0123456789abcdef`

describe('a reload', () => {
  test('puts new values in effect and names them', async () => {
    const { file, holder } = await holding('log_level: INFO')
    file.yaml = 'log_level: DEBUG\napi_rate_limit: 5'
    expect(await holder.reload()).toMatchObject({
      changed: ['SVCD_API_RATE_LIMIT', 'SVCD_LOG_LEVEL'],
      needsRestart: [],
    })
    expect(holder.current().logging.level).toBe('DEBUG')
  })

  test('that is not valid changes nothing', async () => {
    const { file, holder } = await holding('log_level: INFO')
    const before = holder.current()
    const heard: unknown[] = []
    holder.onChange((...news) => heard.push(news))
    file.yaml = 'log_level: DEBUG\nport: x'
    await expect(holder.reload()).rejects.toThrow(ConfigError)
    expect(holder.current()).toBe(before)
    expect(heard).toEqual([])
  })

  test('works again after one that was not valid', async () => {
    const { file, holder } = await holding('')
    file.yaml = 'port: x'
    const first = holder.reload()
    await expect(first).rejects.toThrow(ConfigError)
    file.yaml = 'log_level: ERROR'
    expect((await holder.reload()).changed).toEqual(['SVCD_LOG_LEVEL'])
  })

  test('keeps values that need a restart, and names them each time', async () => {
    const { file, holder } = await holding('port: 8080')
    file.yaml = 'port: 9090\nlisten: "::1"\nlog_format: json'
    const expected = { needsRestart: ['SVCD_LISTEN', 'SVCD_PORT'] }
    expect(await holder.reload()).toMatchObject({ ...expected, changed: ['SVCD_LOG_FORMAT'] })
    expect(await holder.reload()).toMatchObject({ ...expected, changed: [] })
    expect(holder.current().network).toMatchObject({ port: 8080, listen: '127.0.0.1' })
  })

  test('is refused when new values beside waiting ones would be unsafe', async () => {
    const { file, holder } = await holding('port: 80\nlisten: 0.0.0.0\nauth_modes: password')
    file.yaml = 'port: 80\nlisten: 127.0.0.1\nauth_modes: none'
    await expect(holder.reload()).rejects.toThrow('only safe on a loopback address')
    await expect(holder.reload()).rejects.toThrow('restart to apply this change')
    expect(holder.current().auth.modes).toBe('password')
  })

  test('sees that a secret changed, and that it did not', async () => {
    const { file, holder } = await holding(`jwt_secret: ${secret('a')}\nfeatures_config: { k: one }`)
    expect((await holder.reload()).changed).toEqual([])
    file.yaml = `jwt_secret: ${secret('b')}\nfeatures_config: { k: two }`
    expect((await holder.reload()).changed).toEqual(['SVCD_JWT_SECRET', 'features_config'])
  })

  test('passes warnings on', async () => {
    const { file, holder } = await holding('')
    file.yaml = 'log_levl: DEBUG'
    expect((await holder.reload()).warnings).toEqual([expect.stringContaining('log_levl')])
  })

  test('waits for the one before it', async () => {
    const order: string[] = []
    const gate = Promise.withResolvers<void>()
    const loaded = await load()
    const slow = async () => {
      order.push('start')
      await gate.promise
      order.push('end')
      return loaded
    }
    const holder = new SettingsHolder({ loaded, load: slow, logger: new MemoryLog() })
    const both = Promise.all([holder.reload(), holder.reload()])
    gate.resolve()
    await both
    expect(order).toEqual(['start', 'end', 'start', 'end'])
  })
})

describe('listeners', () => {
  test('hear of every reload, after it is in effect, until they leave', async () => {
    const { file, holder } = await holding('')
    const heard: string[] = []
    const dispose = holder.onChange((settings, changed) => {
      heard.push(`${changed.join()} ${settings.logging.level} ${holder.current() === settings}`)
    })
    file.yaml = 'log_level: DEBUG'
    await holder.reload()
    await holder.reload() // nothing new, but a log file may wait to be opened again
    dispose()
    file.yaml = 'log_level: ERROR'
    await holder.reload()
    expect(heard).toEqual(['SVCD_LOG_LEVEL DEBUG true', ' DEBUG true'])
  })

  test('that fail do not keep the others from hearing', async () => {
    const { file, holder, logger } = await holding('')
    const heard: string[] = []
    holder.onChange(() => {
      throw new Error('cannot follow')
    })
    holder.onChange((_, changed) => heard.push(...changed))
    file.yaml = 'log_level: DEBUG'
    await holder.reload()
    expect(heard).toEqual(['SVCD_LOG_LEVEL'])
    expect(logger.records.map(({ message }) => message)).toEqual(['A part of the server did not take the new settings'])
  })
})
