import { describe, expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import type { Destination } from './destination.ts'
import { LineWriter } from './line-writer.ts'

/** A reader that takes `capacity` bytes, and then nothing until it is given more. */
class SlowReader implements Destination {
  received = ''
  capacity = 0

  writeSync(bytes: Uint8Array): number {
    if (this.capacity === 0) throw Object.assign(new Error('full'), { code: 'EAGAIN' })
    const taken = bytes.subarray(0, this.capacity)
    this.capacity -= taken.length
    this.received += Buffer.from(taken).toString('latin1')
    return taken.length
  }

  close(): void {}
}

const clock = new FakeClock()
const open = (destination: Destination, failures: unknown[] = []): LineWriter =>
  new LineWriter({
    destination,
    clock,
    droppedNotice: (count) => `dropped ${count}\n`,
    onFailure: (error) => failures.push(error),
  })
/** Lets the writer run into its next wait. */
const turn = async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(20)
  await new Promise((resolve) => setImmediate(resolve))
}
const megabyte = (name: string): string => `${name}${'x'.repeat(1024 * 1024 - 2)}\n`
const linesOf = (reader: SlowReader): string[] =>
  reader.received.split('\n').map((line) => line.replace(/x{1000,}/, ''))

describe('a reader that does not read', () => {
  test('what it did not take is continued where it stopped', async () => {
    const reader = new SlowReader()
    const writer = open(reader)
    writer.push('first line\n')
    writer.push('second line\n')
    for (let round = 0; round < 12; round++) {
      reader.capacity = 2
      await turn()
    }
    expect(reader.received).toBe('first line\nsecond line\n')
  })

  test('memory is bounded, and one line later tells how many were dropped, where they are missing', async () => {
    const reader = new SlowReader()
    const writer = open(reader)
    for (const name of 'abcdefghijkl') writer.push(megabyte(name))
    reader.capacity = Number.POSITIVE_INFINITY
    await turn()
    await writer.idle()
    writer.push('after\n')
    await writer.idle()
    expect(linesOf(reader)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'dropped 4', 'after', ''])
  })

  test('a jam that lasts gives one notice, not one for each line that would have fitted', async () => {
    const reader = new SlowReader()
    const writer = open(reader)
    for (const name of 'abcdefghij') writer.push(megabyte(name))
    for (const name of 'klm') {
      reader.capacity = 1024 * 1024
      await turn()
      writer.push(megabyte(name))
    }
    reader.capacity = Number.POSITIVE_INFINITY
    await turn()
    await writer.idle()
    expect(linesOf(reader)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'dropped 5', ''])
  })

  test('a line larger than all that may wait is told of at once, and does not stop the ones behind it', async () => {
    const reader = new SlowReader()
    reader.capacity = Number.POSITIVE_INFINITY
    const writer = open(reader)
    writer.push('x'.repeat(9 * 1024 * 1024))
    await writer.idle()
    expect(reader.received).toBe('dropped 1\n')
    writer.push('after\n')
    await writer.idle()
    expect(reader.received).toBe('dropped 1\nafter\n')
  })

  test('a flush at exit gives up after a bounded wait and returns', () => {
    const reader = new SlowReader()
    const writer = open(reader)
    writer.push('lost\n')
    const start = performance.now()
    writer.flushSync()
    expect(performance.now() - start).toBeLessThan(5000)
    expect(reader.received).toBe('')
  })

  test('closing does not wait for it either', async () => {
    const reader = new SlowReader()
    const writer = open(reader)
    writer.push('lost\n')
    await turn()
    await writer.close()
    expect(reader.received).toBe('')
  })

  test('a flush continues a half-written line before the ones behind it, and tells of dropped lines', async () => {
    const reader = new SlowReader()
    const writer = open(reader)
    writer.push('half written\n')
    reader.capacity = 4
    await turn()
    for (const name of 'abcdefghi') writer.push(megabyte(name))
    reader.capacity = Number.POSITIVE_INFINITY
    writer.flushSync()
    expect(linesOf(reader)).toEqual(['half written', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'dropped 1', ''])
    await turn()
    expect(linesOf(reader)).toHaveLength(11)
  })
})

describe('a destination that fails', () => {
  const broken: Destination = {
    writeSync: () => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    },
    close: () => {},
  }

  test('is reported once and left alone until it is replaced', async () => {
    const failures: unknown[] = []
    const writer = open(broken, failures)
    for (const line of ['a\n', 'b\n', 'c\n']) {
      writer.push(line)
      await writer.idle()
    }
    writer.flushSync()
    expect(failures).toHaveLength(1)
    const reader = new SlowReader()
    reader.capacity = Number.POSITIVE_INFINITY
    writer.replace(reader)
    writer.push('again\n')
    await writer.idle()
    expect(reader.received).toBe('again\n')
  })

  test('does not make a flush throw', () => {
    const failures: unknown[] = []
    const writer = open(broken, failures)
    writer.push('a\n')
    writer.flushSync()
    expect(failures).toHaveLength(1)
  })
})

test('a replacement takes over after the line being written, and nothing is lost or split', async () => {
  const first = new SlowReader()
  const second = new SlowReader()
  second.capacity = Number.POSITIVE_INFINITY
  const writer = open(first)
  writer.push('one\n')
  first.capacity = 2
  await turn()
  writer.replace(second)
  writer.push('two\n')
  first.capacity = Number.POSITIVE_INFINITY
  await turn()
  await writer.idle()
  expect([first.received, second.received]).toEqual(['one\n', 'two\n'])
})

test('the lines of one turn are one write', async () => {
  let writes = 0
  const writer = open({
    writeSync: (bytes) => {
      writes++
      return bytes.length
    },
    close: () => {},
  })
  for (let line = 0; line < 100; line++) writer.push(`${line}\n`)
  await writer.idle()
  expect(writes).toBe(1)
})
