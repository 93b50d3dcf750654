/** One thing the operator must correct. */
export interface Problem {
  /** The variable, or the YAML key of a setting that has no variable. */
  readonly setting: string
  /** The key in the configuration file, when the value came from there. */
  readonly yamlKey?: string
  /** What was wrong and what is allowed. Never holds a secret. */
  readonly message: string
}

/** The configuration cannot be used. Carries every problem found, so that one correction round is enough. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  /** Said as well because they often explain a problem: a mistyped name beside a setting that seems to be missing. */
  readonly warnings: readonly string[]

  constructor(problems: readonly Problem[], warnings: readonly string[] = []) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super([`The configuration has ${count}:`, ...problems.map((problem) => `  ${describe(problem)}`)].join('\n'))
    this.problems = problems
    this.warnings = warnings
  }
}

function describe({ setting, yamlKey, message }: Problem): string {
  if (yamlKey === undefined || yamlKey === setting) return `${setting} ${message}`
  return `${setting} (${yamlKey} in the configuration file) ${message}`
}
