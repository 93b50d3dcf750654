import { expect, test } from 'vitest'
import { attachment } from './content-disposition.ts'

test.each([
  ['plain.tar.gz', 'attachment; filename="plain.tar.gz"'],
  ['with space (1).tar.gz', 'attachment; filename="with space (1).tar.gz"'],
  ['a"b\\c.gz', `attachment; filename="a_b_c.gz"; filename*=UTF-8''a%22b%5Cc.gz`],
  ['50%.gz', `attachment; filename="50_.gz"; filename*=UTF-8''50%25.gz`],
  ['größe.gz', `attachment; filename="gr__e.gz"; filename*=UTF-8''gr%C3%B6%C3%9Fe.gz`],
  ['😀.gz', `attachment; filename="_.gz"; filename*=UTF-8''%F0%9F%98%80.gz`],
  [`it's*(ü).gz`, `attachment; filename="it's*(_).gz"; filename*=UTF-8''it%27s%2A%28%C3%BC%29.gz`],
  ['a\r\nset-cookie: x', `attachment; filename="a__set-cookie: x"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x`],
  ['half \ud800', `attachment; filename="half _"; filename*=UTF-8''half%20%EF%BF%BD`],
])('%j is saved as %s', (name, header) => {
  expect(attachment(name)).toBe(header)
})
