import type { ApiOperation } from './operations.ts'

/** Operations in which every word of `query` occurs somewhere: method, path, summary, group or parameter name. */
export function filterOperations(operations: readonly ApiOperation[], query: string): readonly ApiOperation[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return operations
  return operations.filter((operation) => {
    const text = searchTextOf(operation)
    return words.every((word) => text.includes(word))
  })
}

function searchTextOf({ method, path, summary, tag, parameters }: ApiOperation): string {
  return [method, path, summary, tag, ...parameters.map(({ name }) => name)].join(' ').toLowerCase()
}
