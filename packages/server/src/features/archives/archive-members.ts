import { AppError } from '../../kernel/app-error.ts'
import { refused, requireLinkTarget, safeParts } from './member-name.ts'
import type { TarEntry } from './tar/tar-reader.ts'

export const DESCRIPTION_NAME = 'workspace.json'
export const HOME_NAME = 'home'
/** Tells what of the home is not in the archive. For people: nothing is made of it here. */
export const LEFT_OUT_NAME = 'left-out.txt'

const MAX_DESCRIPTION_BYTES = 1024 * 1024
/** Links are kept in memory until the end, so what they may take there is bounded. */
const MAX_LINK_CHARACTERS = 32 * 1024 * 1024

/** What an archive of a workspace is made of. Names in the home are relative to it. */
export type ArchiveMember =
  | { readonly kind: 'description'; readonly content: AsyncIterable<Uint8Array> }
  | { readonly kind: 'directory'; readonly name: string; readonly mode: number }
  | { readonly kind: 'link'; readonly name: string; readonly target: string }
  /** Another name of a file that came before. */
  | { readonly kind: 'hard link'; readonly name: string; readonly target: string }
  | { readonly kind: 'file'; readonly name: string; readonly mode: number; readonly content: AsyncIterable<Uint8Array> }

/**
 * Tells what each member is for, and refuses what no honest archive holds. What belongs neither to the description
 * nor to the home is left out.
 */
export async function* archiveMembers(entries: AsyncIterable<TarEntry>): AsyncGenerator<ArchiveMember, void> {
  const links = new LinksSoFar()
  let described = false
  for await (const entry of entries) {
    const [top, ...parts] = safeParts(entry.name)
    if (entry.kind === 'link') requireLinkTarget(entry.linkTarget)
    if (top === DESCRIPTION_NAME && parts.length === 0) {
      if (described) throw refused(`${DESCRIPTION_NAME} twice`)
      described = true
      yield description(entry)
    } else if (top === HOME_NAME) {
      links.requireNoneAbove(parts)
      const member = homeMember(entry, parts.join('/'))
      if (member?.kind === 'link') links.add(member)
      if (member?.kind === 'hard link') links.requireNoneAbove(member.target.split('/'))
      if (member) yield member
    }
  }
}

function description(entry: TarEntry): ArchiveMember {
  if (entry.kind !== 'file') throw refused(`a ${DESCRIPTION_NAME} that is no file`)
  if (entry.size > MAX_DESCRIPTION_BYTES) {
    throw new AppError('archive_too_large', `${DESCRIPTION_NAME} in the archive exceeds 1 MB`)
  }
  return { kind: 'description', content: entry.content }
}

/** Undefined for the home itself, which is there already. */
function homeMember(entry: TarEntry, name: string): ArchiveMember | undefined {
  if (name === '') {
    if (entry.kind !== 'directory') throw refused(`a ${HOME_NAME} that is no directory`)
    return undefined
  }
  switch (entry.kind) {
    case 'directory':
      return { kind: 'directory', name, mode: entry.mode }
    case 'link':
      return { kind: 'link', name, target: entry.linkTarget }
    case 'hard link':
      return { kind: 'hard link', name, target: hardLinkTarget(entry) }
    default:
      return { kind: 'file', name, mode: entry.mode, content: entry.content }
  }
}

/** Names a member, not a place; so it may name one of the home alone. */
function hardLinkTarget({ name, linkTarget }: TarEntry): string {
  const [top, ...parts] = safeParts(linkTarget)
  if (top !== HOME_NAME || parts.length === 0) throw refused('a hard link that leads out of the home', name)
  return parts.join('/')
}

/** Sees to it that no later member goes through a link, or takes its place. */
class LinksSoFar {
  readonly #names = new Set<string>()
  #characters = 0

  add({ name, target }: { readonly name: string; readonly target: string }): void {
    this.#characters += name.length + target.length
    if (this.#characters > MAX_LINK_CHARACTERS) throw refused('too many links')
    this.#names.add(name)
  }

  requireNoneAbove(parts: readonly string[]): void {
    if (this.#names.size === 0) return
    let path = ''
    for (const part of parts) {
      path = path === '' ? part : `${path}/${part}`
      if (this.#names.has(path)) throw refused('a member that goes through a link, or replaces one', parts.join('/'))
    }
  }
}
