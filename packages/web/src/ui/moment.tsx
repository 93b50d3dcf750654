const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A point in time as the reader's own clock shows it. What is not a date is shown as it came. */
export function Moment({ at }: { at: string | number }) {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <>{at}</>
  return <time dateTime={date.toISOString()}>{format.format(date)}</time>
}
