import { expect, test } from 'vitest'
import { COLOR_SCHEME_KEY, DEFAULT_COLOR_SCHEME } from './color-scheme.ts'
import script from './first-paint.js?raw'

test('the script before the first paint reads the choice the theme switch stores', () => {
  expect(script).toContain(`getItem('${COLOR_SCHEME_KEY}')`)
  expect(script).toContain(`'light' : '${DEFAULT_COLOR_SCHEME}'\n})()`)
})
