import { expect, test } from 'vitest'
import {
  asItIs,
  escapeHtml,
  onOneLine,
  Rendered,
  renderTemplate,
  type TemplateValues,
  type Writing,
} from './template.ts'

const values: TemplateValues = { name: 'Ada', empty: '', unset: undefined, tag: '{{name}}', ready: new Rendered('<b>') }

function render(template: string, written: Writing = asItIs) {
  const mistakes: string[] = []
  return {
    text: renderTemplate(template, values, { written, complain: (mistake) => mistakes.push(mistake) }),
    mistakes,
  }
}

test.each([
  ['Hello {{name}}, {{ name }}!', 'Hello Ada, Ada!'],
  ['a{{unset}}b{{empty}}c', 'abc'],
  ['{{#name}}yes{{/name}}{{#unset}}no{{/unset}}{{#empty}}no{{/empty}}', 'yes'],
  ['{{#name}}a{{#unset}}b{{/unset}}c{{/name}}', 'ac'],
  ['{{#unset}}a{{#name}}b{{/name}}c{{/unset}}d', 'd'],
  ['{{tag}} {{#tag}}{{tag}}{{/tag}}', '{{name}} {{name}}'],
  ['one\n  {{#name}}  \ntwo\n{{/name}}\nthree\n', 'one\ntwo\nthree\n'],
  ['one\r\n{{#unset}}\r\ntwo\r\n{{/unset}}\r\nthree', 'one\r\nthree'],
  ['{ {name} } {{}} {{1}} {{a b}}', '{ {name} } {{}} {{1}} {{a b}}'],
])('%j renders as %j', (template, expected) => {
  expect(render(template)).toEqual({ text: expected, mistakes: [] })
})

test.each([
  ['a{{nmae}}b', 'ab', 'there is no value {{nmae}}'],
  ['a{{constructor}}b', 'ab', 'there is no value {{constructor}}'],
  ['a{{#nmae}}b{{/nmae}}c', 'ac', 'there is no value {{nmae}}'],
  ['a{{#unset}}b', 'a', '{{#unset}} is not closed'],
  ['a{{#name}}b', 'ab', '{{#name}} is not closed'],
  ['a{{/name}}b', 'ab', '{{/name}} closes nothing'],
])('%j renders as %j and is told: %s', (template, expected, mistake) => {
  expect(render(template)).toEqual({ text: expected, mistakes: [mistake] })
})

test('a value is escaped in HTML, and what is already rendered is not', () => {
  const hostile = { name: `<a href="x" title='y'>&` }
  const text = renderTemplate('{{name}}', hostile, { written: escapeHtml, complain: () => undefined })
  expect(text).toBe('&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;')
  expect(render('{{ready}}', escapeHtml).text).toBe('<b>')
})

test('a value cannot start a line of its own in a text', () => {
  expect(onOneLine('Ada\r\n\r\nDear\u2028all\u0085!')).toBe('Ada Dear all !')
})
