/** Keeps the arrows of the house true: who may import whom. Run by `npm run check`; the rules are the tables below. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** For each package: which of ours it may import, and whether it may use Node itself. */
const PACKAGES: Record<string, { mayImport: readonly string[]; node: boolean }> = {
  'packages/protocol': { mayImport: [], node: false },
  'packages/client': { mayImport: ['@svc/protocol'], node: false },
  'packages/agent': { mayImport: ['@svc/protocol'], node: true },
  'packages/server': { mayImport: ['@svc/protocol'], node: true },
  'packages/web': { mayImport: ['@svc/protocol', '@svc/client'], node: false },
  e2e: { mayImport: ['@svc/protocol', '@svc/client', '@svc/server'], node: true },
  bench: { mayImport: ['@svc/protocol', '@svc/client', '@svc/server'], node: true },
}

/** What the server is put together from. */
const PARTS = ['kernel', 'config', 'logging', 'storage', 'mail', 'engine', 'agent', 'http', 'realtime', 'features']

/** For each folder of a package: the folders beside it that it may import. A folder may always import itself. */
const LAYERS: Record<string, Record<string, readonly string[]>> = {
  'packages/server/src': {
    kernel: [],
    config: ['kernel'],
    logging: ['kernel'],
    storage: ['kernel'],
    mail: ['kernel'],
    engine: ['kernel'],
    agent: ['kernel'],
    http: ['kernel'],
    realtime: ['kernel'],
    features: ['kernel', 'storage', 'mail', 'engine', 'agent', 'config'],
    testing: ['*'],
    'app-people.ts': [...PARTS, 'ports.ts', 'settings-views.ts'],
    'app-workspaces.ts': [...PARTS, 'ports.ts', 'settings-views.ts', 'app-people.ts'],
    'app-hosting.ts': [...PARTS, 'ports.ts', 'settings-views.ts', 'app-people.ts', 'app-workspaces.ts'],
    'app-attachments.ts': [...PARTS, 'ports.ts', 'app-people.ts', 'app-workspaces.ts'],
    'app-live.ts': [
      ...PARTS,
      'ports.ts',
      'settings-views.ts',
      'app-people.ts',
      'app-workspaces.ts',
      'app-attachments.ts',
    ],
    'app.ts': [
      ...PARTS,
      'ports.ts',
      'settings-views.ts',
      'app-people.ts',
      'app-workspaces.ts',
      'app-hosting.ts',
      'app-live.ts',
    ],
    'ports.ts': ['kernel', 'storage', 'engine', 'features'],
    'settings-views.ts': ['config', 'features', 'http', 'mail'],
    'main.ts': ['*'],
    process: [...PARTS, 'app.ts'],
  },
  'packages/web/src': {
    ui: [],
    data: [],
    features: ['data', 'ui'],
    pages: ['features', 'data', 'ui'],
    app: ['pages', 'features', 'data', 'ui'],
    'main.tsx': ['*'],
  },
}

/** Drivers are picked in one place; everybody else sees only the interface. */
const DRIVER = /^packages\/server\/src\/(storage\/(sqlite|postgres)|engine\/(docker|local))\//
const DRIVER_PICKERS =
  /^packages\/server\/src\/((storage|engine|testing)\/|process\/(open-storage|open-engine|doctor)\b)/
/** What a feature keeps to itself. */
const PRIVATE_TO_FEATURE = /-(store|routes|frames)\.ts$/
const TEST = /\.test\.tsx?$/

export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** One sentence for each import that goes the wrong way. */
export function findViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    importsOf(text).flatMap(({ target, typesOnly }) => {
      const why = objection(path, target, typesOnly)
      return why ? [`${path} imports ${target}: ${why}`] : []
    }),
  )
}

function importsOf(text: string): { target: string; typesOnly: boolean }[] {
  const pattern =
    /\b(?:(import type)\b[^'";]*?)?from\s+['"]([^'"\n]+)['"]|\bimport\s+['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/g
  return [...text.matchAll(pattern)].map(([, typesOnly, from, bare, dynamic]) => ({
    target: from ?? bare ?? dynamic ?? '',
    typesOnly: typesOnly !== undefined,
  }))
}

function objection(path: string, target: string, typesOnly: boolean): string | undefined {
  const home = Object.keys(PACKAGES).find((name) => path.startsWith(`${name}/`))
  const rules = home === undefined ? undefined : PACKAGES[home]
  if (home === undefined || rules === undefined) return undefined
  if (target.startsWith('.')) {
    return objectionInside(home, path, normalize(join(dirname(path), target)), typesOnly)
  }
  if (TEST.test(path)) return undefined
  if (target.startsWith('node:') && !rules.node) return `${home} does not run on Node`
  const [scope, name] = target.split('/')
  const ours = scope === '@svc' ? `@svc/${name}` : undefined
  if (ours && !rules.mayImport.includes(ours)) return `${home} must not know ${ours}`
  return undefined
}

function objectionInside(home: string, path: string, target: string, typesOnly: boolean): string | undefined {
  if (!target.startsWith(`${home}/`)) return `reaches out of ${home}; import the package by its name`
  const layered = Object.keys(LAYERS).find((folder) => path.startsWith(`${folder}/`))
  const layers = layered === undefined ? undefined : LAYERS[layered]
  if (layered === undefined || layers === undefined || TEST.test(path)) return undefined
  const [from, to] = [topOf(layered, path), topOf(layered, target)]
  const allowed = layers[from]
  if (allowed === undefined) return `${from} has no row in the table of layers`
  if (from !== to && !allowed.includes('*') && !allowed.includes(to)) return `${from} must not know ${to}`
  if (from === 'features' && to === 'config' && !typesOnly) return 'a feature gets its settings handed in'
  if (DRIVER.test(target) && !DRIVER_PICKERS.test(path)) return 'only the process picks a storage driver'
  return from === 'features' && to === 'features' ? objectionBetweenFeatures(path, target) : undefined
}

function objectionBetweenFeatures(path: string, target: string): string | undefined {
  const feature = (file: string) => file.split('/')[4]
  if (feature(path) === feature(target)) return undefined
  return PRIVATE_TO_FEATURE.test(target)
    ? `${feature(target)} keeps that to itself; use its service or rules`
    : undefined
}

/** The first name below the layered folder: `http` of `…/src/http/guard.ts`. */
function topOf(layered: string, file: string): string {
  return file.slice(layered.length + 1).split('/')[0] ?? ''
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const paths = globSync('{packages/*/src,e2e,bench}/**/*.{ts,tsx}', {
    cwd: root,
    exclude: (name) => String(name) === 'node_modules',
  })
  const files = paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  const violations = findViolations(files)
  for (const sentence of violations) console.error(sentence)
  process.exit(violations.length === 0 ? 0 : 1)
}
