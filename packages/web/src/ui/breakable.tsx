import { Fragment } from 'react'

/** A path or a name that, when too long for the line, breaks before a slash or after an underscore. */
export function Breakable({ text }: { text: string }) {
  return text.split(/(?=\/)|(?<=_)/).map((part, position) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts repeat, and never move
    <Fragment key={position}>
      <wbr />
      {part}
    </Fragment>
  ))
}
