import type { JsonSchema } from '@svc/client/openapi'

/** What a `#/…` reference points to inside `document`; undefined when it leads nowhere. */
export function resolveRef(document: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined
  return ref
    .slice(1)
    .split('/')
    .slice(1)
    .map(unescapeStep)
    .reduce<unknown>((node, step) => (isRecord(node) && Object.hasOwn(node, step) ? node[step] : undefined), document)
}

/** The schema a reference points to; undefined when it leads nowhere or to something else. */
export function resolveSchema(document: unknown, ref: string): JsonSchema | undefined {
  const target = resolveRef(document, ref)
  return typeof target === 'boolean' || isRecord(target) ? target : undefined
}

/** The last word of a reference: the name people know the schema by. */
export function refName(ref: string): string {
  return unescapeStep(ref.slice(ref.lastIndexOf('/') + 1))
}

function unescapeStep(step: string): string {
  return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
