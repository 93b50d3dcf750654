/** The outcome of another template: the only value that is put in as it is. */
export class Rendered {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type TemplateValues = Readonly<Record<string, string | Rendered | undefined>>

/** How a value is written in the kind of text it goes into. */
export type Writing = (value: string) => string

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escapeHtml: Writing = (value) => value.replace(/[&<>"']/g, (sign) => HTML_ESCAPES[sign] ?? '')

/** A value is part of a sentence; a line break in it could pass for a sentence of ours. */
export const onOneLine: Writing = (value) => value.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')

/** For headers, where a line break must stay visible to be refused. */
export const asItIs: Writing = (value) => value

const TAG = /\{\{([#/]?)\s*([A-Za-z]\w*)\s*\}\}/g
/** An opening or closing tag alone on its line leaves no empty line behind. */
const TAG_ON_ITS_OWN_LINE = /^[ \t]*(\{\{[#/]\s*\w+\s*\}\})[ \t]*\r?\n/gm

/**
 * Fills in `{{name}}`, and leaves out `{{#name}}…{{/name}}` when that value is not set. Goes through the template once,
 * so a value that looks like a tag stays text. A mistake in the template renders as nothing and is told to `complain`.
 */
export function renderTemplate(
  template: string,
  values: TemplateValues,
  { written, complain }: { written: Writing; complain: (mistake: string) => void },
): string {
  const open: { name: string; shown: boolean }[] = []
  const isShown = () => open.at(-1)?.shown ?? true
  const valueNamed = (name: string) => {
    if (Object.hasOwn(values, name)) return values[name]
    complain(`there is no value {{${name}}}`)
    return undefined
  }
  const source = template.replace(TAG_ON_ITS_OWN_LINE, '$1')
  let result = ''
  let position = 0
  for (const match of source.matchAll(TAG)) {
    const [tag, sign, name = ''] = match
    if (isShown()) result += source.slice(position, match.index)
    position = match.index + tag.length
    if (sign === '#') open.push({ name, shown: Boolean(valueNamed(name)) && isShown() })
    else if (sign === '/') {
      if (open.at(-1)?.name === name) open.pop()
      else complain(`{{/${name}}} closes nothing`)
    } else {
      const value = valueNamed(name)
      if (isShown()) result += value instanceof Rendered ? value.text : written(value ?? '')
    }
  }
  for (const { name } of open) complain(`{{#${name}}} is not closed`)
  return isShown() ? result + source.slice(position) : result
}
