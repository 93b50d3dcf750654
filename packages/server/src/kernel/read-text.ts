import { readFile } from 'node:fs/promises'

/** Of a file of the system's. Empty where there is none, or none that we may read. */
export const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
