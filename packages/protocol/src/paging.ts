import * as z from 'zod'

/** Far more pages than there are rows; larger numbers would not survive the multiplication with the size. */
const LAST_PAGE = 1_000_000_000
const MAX_PAGE_SIZE = 200

export const DEFAULT_PAGE_SIZE = 10

const wholeNumberWithin = (min: number, max: number) =>
  z.coerce
    .number()
    .refine(Number.isInteger, 'must be a whole number')
    .transform((value) => Math.min(Math.max(value, min), max))

/** In a query. A number out of bounds counts as the nearest one within, and is no error. */
export const PageNumber = wholeNumberWithin(1, LAST_PAGE).meta({
  type: 'integer',
  description: 'From 1; 1 unless given',
})
export const PageSize = wholeNumberWithin(1, MAX_PAGE_SIZE).meta({
  type: 'integer',
  description: `From 1 to ${MAX_PAGE_SIZE}; ${DEFAULT_PAGE_SIZE} unless given`,
})

export const SortOrder = z.enum(['asc', 'desc'])
export type SortOrder = z.infer<typeof SortOrder>
