import { planned } from './planned.ts'
import { type AnyRow, areas } from './settings.ts'

const INTRODUCTION = `# Settings

This page is printed from the settings table of the server by \`scripts/print-reference.ts\`. Do not edit it.

A setting comes from its environment variable, else from the configuration file, else it has its default.

- **Configuration file**: \`<config_dir>/svcd.yaml\`, created on the first start. Keys may be written with \`_\` or \`-\`.
  \`--config <path>\` reads another file; \`--config none\` reads none.
- **Empty** means not set, unless the type says otherwise.
- **Booleans** are \`1 0 true false yes no on off\`. **Lists** are comma-separated, or YAML lists.
  **Sizes** are bytes, or a number with \`k\`, \`m\`, \`g\`, \`t\` or \`p\`, in powers of 1024.
- **References**: a text, number or list may be given as \`file:<path>\` or \`cmd:<command>\` and is then read from that
  file or from the output of that command. Either may give 1 MB. The file must be a regular one; the command has
  10 seconds, and is run without the variables of secret settings and of features.
- **Reload** says when a change takes effect: *live* at the next reload (SIGHUP), *restart* at the next start, *seed*
  only while the first data is written.
- **Planned** settings are accepted and checked, but have no effect in this version.

\`svcd settings\` prints the values in effect.
`

/** The settings reference as Markdown. */
export function settingsReference(): string {
  const sections = Object.values(areas).map(({ title, rows }) =>
    [`## ${title}`, '', ...HEADER, ...Object.values<AnyRow>(rows).map(tableRow), ''].join('\n'),
  )
  return [INTRODUCTION, ...sections].join('\n')
}

const HEADER = ['| Variable | YAML key | Type and bounds | Default | Reload | Meaning |', '|---|---|---|---|---|---|']

function tableRow(row: AnyRow): string {
  const variable = row.env === undefined ? '–' : code(row.env)
  const keys = row.yaml === undefined ? '–' : [row.yaml, ...row.yamlAliases].map(code).join(', ')
  const type = row.secret && !row.type.startsWith('secret') ? `secret, ${row.type}` : row.type
  const meaning = `${planned.has(row.name) ? '**Planned.** ' : ''}${plain(row.doc)}`
  return `| ${[variable, keys, plain(type), plain(row.defaultText), row.reload, meaning].join(' | ')} |`
}

function code(name: string): string {
  return `\`${name}\``
}

/** Text in which Markdown finds nothing to format. */
function plain(text: string): string {
  return text.replace(/[|<>*_]/g, '\\$&')
}
