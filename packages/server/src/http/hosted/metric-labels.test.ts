import { expect, test } from 'vitest'
import { withKnownLabels } from './metric-labels.ts'

test.each<[string, number, string, number]>([
  ['GET', 200, 'GET', 200],
  ['POST', 499, 'POST', 499],
  ['MKCALENDAR', 207, 'OTHER', 207],
  ['GET', 987, 'GET', 900],
  ['GET', 299, 'GET', 200],
])('%s %i is counted as %s %i', (method, status, countedMethod, countedStatus) => {
  const counted: unknown[] = []
  withKnownLabels((...given) => counted.push(given))('/hosted', method, status, 1)
  expect(counted).toEqual([['/hosted', countedMethod, countedStatus, 1]])
})
