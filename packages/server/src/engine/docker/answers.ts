import { z } from 'zod'
import type { ContainerRole, ContainerState } from '../container-engine.ts'
import { LABELS } from './container-identity.ts'

// What we read of the engine's answers. Both engines send far more.

const Labels = z
  .record(z.string(), z.string())
  .nullish()
  .transform((labels) => labels ?? {})

export const VersionAnswer = z.object({
  Version: z.string(),
  ApiVersion: z.string(),
  MinAPIVersion: z.string().optional(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
})

export const InfoAnswer = z.object({
  DefaultRuntime: z.string().optional(),
  DockerRootDir: z.string().optional(),
  Rootless: z.boolean().optional(),
  CgroupVersion: z.string().optional(),
  MemoryLimit: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
})

export const CreatedAnswer = z.object({ Id: z.string() })
export const ListAnswer = z.array(z.object({ Id: z.string() }))

export const InspectAnswer = z.object({
  Id: z.string(),
  Config: z.object({ Labels, Image: z.string().optional() }),
  State: z.object({
    Running: z.boolean(),
    /** 0 while it does not run. */
    Pid: z.number().default(0),
    ExitCode: z.number(),
    OOMKilled: z.boolean(),
    StartedAt: z.string(),
    FinishedAt: z.string(),
  }),
})

export const VolumeAnswer = z.object({
  Name: z.string(),
  Labels,
  CreatedAt: z.string().optional(),
  Mountpoint: z.string(),
})
export const VolumesAnswer = z.object({
  Volumes: z
    .array(VolumeAnswer)
    .nullish()
    .transform((volumes) => volumes ?? []),
})

export const EventAnswer = z.object({
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()) }),
})

/** Shells and engines say a death by a signal so: 128 and its number. */
export const KILLED = 128 + 9

export function toState({ Id, Config, State }: z.infer<typeof InspectAnswer>): ContainerState {
  const startedMs = Date.parse(State.StartedAt)
  const hasStarted = startedMs > 0 // engines say "never" as the year 1
  return {
    id: Id,
    workspaceId: Config.Labels[LABELS.workspace] ?? '',
    role: toRole(Config.Labels[LABELS.role]),
    running: State.Running,
    exitCode: State.Running || !hasStarted ? undefined : State.ExitCode,
    // The engine also says so when a process inside was killed for its memory and the container lived on.
    outOfMemory: !State.Running && State.OOMKilled && State.ExitCode === KILLED,
    startedAt: hasStarted ? startedMs / 1000 : undefined,
  }
}

function toRole(label: string | undefined): ContainerRole {
  return label === 'network-sidecar' ? 'network-sidecar' : 'workspace'
}
