import { expect, test } from 'vitest'
import { parseProcessLimits } from './process-limits.ts'

const limits = (
  files: string,
  processes: string,
) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             1024                 ${processes.padEnd(20)} processes
Max open files            1024                 ${files.padEnd(20)} files
`

test.each([
  ['1048576', '96343', { nofile: 20_000, nproc: 32_768 }],
  ['4096', '500', { nofile: 4096, nproc: 500 }],
  ['unlimited', 'unlimited', { nofile: 20_000, nproc: 32_768 }],
])('with %s files and %s processes allowed to us, a container gets %o', (files, processes, expected) => {
  expect(parseProcessLimits(limits(files, processes))).toEqual(expected)
})
