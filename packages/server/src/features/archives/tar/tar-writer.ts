import { tarEnd, tarHeader, tarPadding } from '@svc/protocol/tar/tar-header'

/** Something to be put into an archive. */
export type TarMember =
  | { readonly kind: 'directory'; readonly name: string; readonly mode: number; readonly modifiedAt: number }
  | { readonly kind: 'link'; readonly name: string; readonly target: string; readonly modifiedAt: number }
  | {
      readonly kind: 'file'
      readonly name: string
      readonly mode: number
      /** Epoch seconds. */
      readonly modifiedAt: number
      readonly size: number
      /** Exactly `size` bytes. */
      open(): AsyncIterable<Uint8Array>
    }

/**
 * The bytes of an archive. Content is read as the archive is, so
 * that whoever stops reading stops the files from being read too.
 */
export async function* writeTar(members: AsyncIterable<TarMember>): AsyncGenerator<Uint8Array, void> {
  for await (const member of members) {
    yield headerOf(member)
    if (member.kind !== 'file' || member.size === 0) continue
    let written = 0
    for await (const chunk of member.open()) {
      written += chunk.length
      if (written > member.size) break
      yield chunk
    }
    if (written !== member.size) throw new Error(`a file has ${written} bytes, and ${member.size} were announced`)
    yield tarPadding(member.size)
  }
  yield tarEnd()
}

function headerOf(member: TarMember): Uint8Array {
  const { kind, modifiedAt } = member
  return tarHeader({
    kind,
    name: Buffer.from(member.name),
    ...(kind === 'link' ? { target: Buffer.from(member.target) } : {}),
    mode: kind === 'link' ? 0o777 : member.mode,
    size: kind === 'file' ? member.size : 0,
    modifiedAt,
  })
}
