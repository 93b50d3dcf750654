import type { Environment } from '../../config/environment.ts'
import type { Settings } from '../../config/settings.ts'
import { systemClock } from '../../kernel/clock.ts'
import { engineChecks } from './engine-checks.ts'
import { hostChecks } from './host-checks.ts'
import { kernelChecks } from './kernel-checks.ts'
import { networkChecks } from './network-checks.ts'
import { findingsAsJson, printFindings } from './print-findings.ts'
import { runChecks } from './run-checks.ts'
import { TrialEngine } from './trial-engine.ts'

/** Every check, in the order in which the findings are printed. */
const checks = [...engineChecks, ...kernelChecks, ...networkChecks, ...hostChecks]

const FOUND_ERRORS = 1

interface Options {
  readonly settings: Settings
  readonly environment: Environment
  readonly json: boolean
}

/** Looks at this host as the server will need it. Changes nothing, and leaves nothing behind. */
export async function doctor({ settings, environment, json }: Options): Promise<{ text: string; exitCode: number }> {
  const engine = new TrialEngine({ settings, environment })
  try {
    const isRoot = process.getuid?.() === 0
    const findings = await runChecks(checks, { settings, environment, isRoot, engine }, systemClock)
    return {
      text: json ? findingsAsJson(findings) : printFindings(findings),
      exitCode: findings.some(({ level }) => level === 'error') ? FOUND_ERRORS : 0,
    }
  } finally {
    await engine.close()
  }
}
