import { splitList } from './builders.ts'
import { FieldReader, parseEntries, secretOrReference, textOrReference } from './field-reader.ts'
import { isRecord, parseUrl, scalarText } from './formats.ts'
import { InvalidValue } from './invalid-value.ts'
import type { ParseContext } from './row.ts'
import type { Secret } from './secret.ts'

/** A language model workspaces may use through the server. */
export interface LlmModel {
  /** What a workspace asks for; `*` takes every name and passes it on. */
  readonly name: string
  /** `provider/model`, as the provider calls it. */
  readonly model: string
  /** Undefined: the provider's usual address. */
  readonly apiBase: string | undefined
  /** Undefined: the common key. */
  readonly apiKey: Secret | undefined
}

export async function parseLlmModels(raw: unknown, context: ParseContext): Promise<readonly LlmModel[]> {
  const entries: readonly unknown[] = Array.isArray(raw) ? raw : splitList(raw)
  return parseEntries(entries, (entry, number) =>
    isRecord(entry) ? parseObject(entry, `model ${number}`, context) : parseText(entry, `model ${number}`, context),
  )
}

/**
 * `provider/model:base:key`. The base may hold colons, so the key is what follows the last one,
 * unless the key is a reference, which holds a colon itself.
 */
const TEXT_FORM = /^([^:]+):(.*?):((?:file:|cmd:).*|[^:]*)$/

async function parseText(entry: unknown, label: string, context: ParseContext): Promise<LlmModel> {
  const parts = TEXT_FORM.exec(scalarText(entry).trim())
  if (!parts) throw new InvalidValue(`in ${label}: must have the form provider/model:base:key`)
  const [, model, base, key] = parts
  return parseObject({ 'model-name': model, params: { model, 'api-base': base, 'api-key': key } }, label, context)
}

async function parseObject(entry: unknown, label: string, context: ParseContext): Promise<LlmModel> {
  const outer = new FieldReader(entry, label)
  const name = await outer.require('model-name', scalarText)
  const params = await outer.read('params', (value) => new FieldReader(value, label))
  const litellmParams = await outer.read('litellm-params', (value) => new FieldReader(value, label))
  const fields = params ?? litellmParams ?? new FieldReader({}, label)

  const model = await fields.read('model', scalarText)
  const apiBase = await fields.read('api-base', async (value) =>
    parseUrl(await textOrReference(value, context), { secureUnlessLoopback: true }),
  )
  const apiKey = await fields.read('api-key', (value) => secretOrReference(value, context))

  const reasons = [...outer.reasons, ...fields.reasons]
  if (name === undefined || reasons.length > 0) throw new InvalidValue(...reasons)
  const unknown = [...outer.unknownFields(), ...fields.unknownFields()]
  if (unknown.length > 0) context.warn(`language ${label} (${name}) has unknown fields: ${unknown.join(', ')}`)
  return { name, model: model ?? name, apiBase, apiKey }
}
