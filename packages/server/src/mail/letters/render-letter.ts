import type { Logger } from '../../kernel/logger.ts'
import type { Letter } from '../mail.ts'
import { type Branding, letterValues, subjectValues } from './letter-values.ts'
import {
  asItIs,
  escapeHtml,
  onOneLine,
  Rendered,
  renderTemplate,
  type TemplateValues,
  type Writing,
} from './template.ts'
import { readTemplate, type TemplateName } from './template-files.ts'

export interface RenderedLetter {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The three parts of a letter. Mistakes in the operator's own files are logged and never stop it. */
export async function renderLetter(
  letter: Letter,
  { branding, folder, log }: { branding: Branding; folder: string | undefined; log: Logger },
): Promise<RenderedLetter> {
  const read = (file: TemplateName) =>
    readTemplate(file, {
      folder,
      complain: (problem, error) => log.warning(`mail template ${file}: ${problem}`, { error }),
    })
  const fill = async (file: TemplateName, values: TemplateValues, written: Writing) => {
    const mistakes = new Set<string>()
    const source = await read(file)
    const template = file.endsWith('.subject.txt') ? firstLine(source) : source
    const text = renderTemplate(template, values, { written, complain: (mistake) => mistakes.add(mistake) })
    for (const mistake of mistakes) log.warning(`mail template ${file}: ${mistake}`)
    return text
  }

  const { kind } = letter
  const values = letterValues(letter, branding)
  const subject = await fill(`${kind}.subject.txt`, subjectValues(branding), asItIs)
  const text = await fill(`${kind}.txt`, values, onOneLine)
  const html = await fill(`${kind}.html`, values, escapeHtml)
  return {
    subject,
    text: await fill('wrapper.txt', { ...values, subject, content: new Rendered(text.trimEnd()) }, onOneLine),
    html: await fill('wrapper.html', { ...values, subject, content: new Rendered(html.trimEnd()) }, escapeHtml),
  }
}

/** Editors end a file with a line break, and a subject has one line. */
function firstLine(template: string): string {
  return template.trim().split(/\r?\n/)[0] ?? ''
}
