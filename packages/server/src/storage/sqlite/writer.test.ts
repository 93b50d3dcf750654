import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isUniqueViolation } from '../unique-violation.ts'
import { Writer } from './writer.ts'

let folder: string
let worker: Worker
let writer: Writer
let losses: Error[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-writer-'))
  worker = new Worker(new URL('./writer-worker.ts', import.meta.url))
  losses = []
  writer = new Writer(worker, (error) => losses.push(error))
  await writer.open(join(folder, 'svc.db'))
  await writer.run('create table t (name text unique)', [])
})
afterEach(async () => {
  await writer.close()
  await rm(folder, { recursive: true })
})

test("an error of the writer's thread keeps SQLite's message and codes", async () => {
  await writer.run('insert into t values (?)', ['a'])
  const error = await writer.run('insert into t values (?)', ['a']).catch((error: unknown) => error)
  expect(error).toMatchObject({ message: 'UNIQUE constraint failed: t.name', code: 'ERR_SQLITE_ERROR', errcode: 2067 })
  expect(isUniqueViolation(error)).toBe(true)
})

test('rolling back where SQLite has already ended the transaction is not an error', async () => {
  await writer.begin()
  await writer.run('insert into t values (?)', ['a'])
  await writer.run('insert or rollback into t values (?)', ['a']).catch(() => undefined)
  await writer.rollback()
  expect((await writer.run('select name from t', [])).rows).toEqual([])
})

test.each([
  { kind: 'NaN', value: Number.NaN },
  { kind: 'Infinity', value: Number.POSITIVE_INFINITY },
  { kind: 'object', value: { name: 'b' } },
  { kind: 'object', value: new Date(0) },
  { kind: 'boolean', value: true },
  { kind: 'undefined', value: undefined },
])('$kind cannot be stored, wherever it stands', async ({ kind, value }) => {
  const insert = (parameters: unknown[]) => writer.run('insert into t values (?), (?)', parameters)
  await expect(insert([value, 'a'])).rejects.toThrow(`parameter 1 cannot be stored: ${kind} is not`)
  await expect(insert(['a', value])).rejects.toThrow(`parameter 2 cannot be stored: ${kind} is not`)
  expect((await writer.run('select name from t', [])).rows).toEqual([])
})

test.each([null, 'text', 1.5, 7, new Uint8Array([1, 2])])('%j comes back as it was stored', async (value) => {
  await writer.run('create table anything (value)', [])
  await writer.run('insert into anything values (?)', [value])
  expect((await writer.run('select value from anything', [])).rows).toEqual([{ value }])
})

test('a text with a second statement is refused, and none of it runs', async () => {
  const attempt = writer.run("insert into t values ('a'); insert into t values ('b')", [])
  await expect(attempt).rejects.toThrow("run them one by one, the first is: insert into t values ('a');")
  expect((await writer.run('select name from t; \n', [])).rows).toEqual([])
})

test('a value that cannot be carried to the thread fails alone', async () => {
  await expect(writer.run('insert into t values (?)', [() => 1])).rejects.toThrow(/could not be cloned/)
  expect((await writer.run('insert into t values (?)', ['a'])).changes).toBe(1)
})

test('when the thread dies, what is pending and all that follows is refused, and the owner is told', async () => {
  const dying = worker.terminate()
  const pending = [writer.run('insert into t values (?)', ['a']), writer.run('commit', [])]
  const refused = pending.map((promise) => expect(promise).rejects.toThrow('the database writer stopped unexpectedly'))
  await dying
  await Promise.all(refused)
  await expect(writer.run('select 1', [])).rejects.toThrow('the database writer stopped unexpectedly')
  expect(losses).toHaveLength(1)
  await writer.close()
})

test('closing ends the thread and is no loss', async () => {
  await writer.close()
  expect(worker.threadId).toBe(-1)
  expect(losses).toEqual([])
})
