import type { z } from 'zod'
import { InfoAnswer, VersionAnswer } from './answers.ts'
import type { EngineApi } from './engine-api.ts'
import { isOk, refusal } from './refusal.ts'

/** Which engine answers, and how it is set up. */
export interface EngineFlavour {
  readonly kind: 'podman' | 'docker'
  readonly version: string
  /** Of the API both engines have, as in `/v1.41`. */
  readonly prefix: string
  /** Of Podman's own. */
  readonly libpodPrefix: string
  readonly info: z.infer<typeof InfoAnswer>
}

/** The oldest version that has all we use. Newer daemons that have left it behind are asked in their oldest. */
const API_VERSION = '1.41'
const LIBPOD_VERSION = '4.0.0'

export async function lookAtEngine(api: EngineApi): Promise<EngineFlavour> {
  const answer = await api.ask({ method: 'GET', path: '/version' })
  if (!isOk(answer)) throw refusal('ask the engine for its version', answer)
  const version = VersionAnswer.parse(answer.body)
  const prefix = `/v${newest(API_VERSION, version.MinAPIVersion ?? API_VERSION)}`
  const info = await api.ask({ method: 'GET', path: `${prefix}/info` })
  if (!isOk(info)) throw refusal('ask the engine how it is set up', info)
  const isPodman = version.Components?.some(({ Name }) => Name.startsWith('Podman')) ?? false
  return {
    kind: isPodman ? 'podman' : 'docker',
    version: version.Version,
    prefix,
    libpodPrefix: `/v${LIBPOD_VERSION}/libpod`,
    info: InfoAnswer.parse(info.body),
  }
}

/** Without root, an engine passes limits over on the old control groups, whatever it says of the machine. */
export function enforcesLimits({ info }: EngineFlavour): boolean {
  if (info.Rootless === true && info.CgroupVersion === '1') return false
  return info.MemoryLimit === true && info.CpuCfsQuota === true && info.PidsLimit === true
}

function newest(first: string, second: string): string {
  return first.localeCompare(second, 'en', { numeric: true }) >= 0 ? first : second
}
