const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** One word for a shell, whatever is in it. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Lines of a shell script that set these variables; names that no shell knows are left out. */
export function exportLines(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    VARIABLE_NAME.test(name) && !value.includes('\0') ? [`export ${name}=${shellWord(value)}`] : [],
  )
}
