import { AppError } from '../../kernel/app-error.ts'
import { bytesIn } from '../../kernel/size.ts'
import type { WorkspaceSettings } from './workspace.ts'

type Key = keyof WorkspaceSettings

/** What a value of a key becomes, or undefined when it is none. */
type Reader<T> = (raw: unknown) => T | undefined

interface Rule<T> {
  readonly read: Reader<T>
  /** Ends the sentence `Setting '<key>' must be …`. */
  readonly mustBe: string
}

const size: Rule<string> = { read: readSize, mustBe: 'a size above 0, such as 512m or 1.5g' }
const flag: Rule<boolean> = { read: readFlag, mustBe: 'true or false' }
const wholeNumberFrom = (min: number): Rule<number> => ({
  read: (raw) => atLeast(min, readNumber(raw, Number.isSafeInteger)),
  mustBe: min === 0 ? 'a whole number, 0 or more' : 'a whole number above 0',
})

/** Every key there is, in the order the refusal of an unknown one lists them. */
const rules: { readonly [K in Key]-?: Rule<NonNullable<WorkspaceSettings[K]>> } = {
  idle_timeout: wholeNumberFrom(0),
  bridge_timeout: wholeNumberFrom(1),
  cpu_limit: { read: (raw) => above0(readNumber(raw, Number.isFinite)), mustBe: 'a number above 0' },
  memory_limit: size,
  pids_limit: wholeNumberFrom(1),
  tmp_size: size,
  nix: flag,
  allow_sudo: flag,
}

/** What a bag may hold at the moment. */
export interface BagContext {
  readonly nixAvailable: boolean
  /** What the workspace has: a value that is only kept is not refused. */
  readonly stored: WorkspaceSettings | null
}

/** A whole bag as a client wrote it. A bag with nothing in it is none. */
export function readSettings(raw: Readonly<Record<string, unknown>>, context: BagContext): WorkspaceSettings | null {
  return mergeSettings(null, raw, context)
}

/** Each key of `patch` sets a setting, null takes it away, and what is absent stays. */
export function mergeSettings(
  present: WorkspaceSettings | null,
  patch: Readonly<Record<string, unknown>>,
  context: BagContext,
): WorkspaceSettings | null {
  const merged: Record<string, unknown> = { ...present }
  for (const [key, raw] of Object.entries(patch)) {
    if (!isKey(key)) throw new AppError('bad_request', unknownKey(key))
    if (raw === null) delete merged[key]
    else merged[key] = readValue(key, raw)
  }
  if (merged.nix === true && !context.nixAvailable && context.stored?.nix !== true) {
    throw new AppError('bad_request', "Setting 'nix' cannot be true: this server has no package store")
  }
  // Only keys of the table got in, each with a value of its own reader.
  return Object.keys(merged).length === 0 ? null : (merged as WorkspaceSettings)
}

const isKey = (word: string): word is Key => Object.hasOwn(rules, word)

const unknownKey = (key: string): string => `Unknown setting '${key}'; known settings: ${Object.keys(rules).join(', ')}`

function readValue(key: Key, raw: unknown): unknown {
  const { read, mustBe } = rules[key]
  const value = read(raw)
  if (value === undefined) throw new AppError('bad_request', `Setting '${key}' must be ${mustBe}`)
  return value
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)$/

/** A number, or a text that is one. */
function readNumber(raw: unknown, fits: (value: unknown) => boolean): number | undefined {
  const value = typeof raw === 'string' && DECIMAL.test(raw.trim()) ? Number(raw) : raw
  return typeof value === 'number' && fits(value) ? value : undefined
}

const above0 = (value: number | undefined) => (value !== undefined && value > 0 ? value : undefined)
const atLeast = (min: number, value: number | undefined) => (value !== undefined && value >= min ? value : undefined)

/** Kept as it was written. */
function readSize(raw: unknown): string | undefined {
  if (typeof raw !== 'string' && typeof raw !== 'number') return undefined
  const text = String(raw).trim()
  return bytesIn(text) === undefined ? undefined : text
}

const TRUE_WORDS = ['1', 'true', 'yes', 'on']
const FALSE_WORDS = ['0', 'false', 'no', 'off']

function readFlag(raw: unknown): boolean | undefined {
  // First: a text is made of a deep list only at the price of the stack.
  if (!['boolean', 'number', 'string'].includes(typeof raw)) return undefined
  const word = String(raw).trim().toLowerCase()
  if (TRUE_WORDS.includes(word)) return true
  return FALSE_WORDS.includes(word) ? false : undefined
}
