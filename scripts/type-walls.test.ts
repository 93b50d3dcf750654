import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '..')

/** What the compiler says to a file that stands in this package. */
function compile(project: string, text: string): string {
  const folder = join(root, project, 'wall-test')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'tsconfig.json'), '{ "extends": "../tsconfig.json", "include": ["."] }')
  writeFileSync(join(folder, 'trial.ts'), `${text}\nexport {}\n`)
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  return stdout
}

test.each([
  ['packages/protocol', 'process.exit()', 'process'],
  ['packages/protocol', "import 'node:fs'", 'node:fs'],
  ['packages/protocol', 'document.title', 'document'],
  ['packages/client', "import { readFileSync } from 'node:fs'; readFileSync('x')", 'node:fs'],
  ['packages/client', 'process.exit()', 'process'],
  ['packages/web', "import { readFileSync } from 'node:fs'; readFileSync('x')", 'node:fs'],
  ['packages/web', 'process.exit()', 'process'],
  ['packages/server', 'document.title', 'document'],
  ['packages/server', 'window.alert()', 'window'],
  ['packages/server', 'enum Colour { Red }\nColour.Red', 'erasableSyntaxOnly'],
])('in %s, `%s` does not compile', (project, text, word) => {
  expect(compile(project, text)).toContain(word)
})

test.each([
  ['packages/server', "import { readFileSync } from 'node:fs'; readFileSync('x')"],
  ['packages/web', 'document.title'],
  ['packages/client', "fetch('/health')"],
  ['packages/protocol', "import { z } from 'zod'; z.string()"],
])('in %s, `%s` does', (project, text) => {
  expect(compile(project, text)).toBe('')
})
