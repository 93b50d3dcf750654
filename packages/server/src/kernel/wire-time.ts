/** `2026-09-07T12:00:00+00:00`, for moments given in epoch seconds. */
export const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, '+00:00')

/** `2026-09-07 12:00:00`, in UTC: how the contract writes when something was created. */
export const plainTime = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
