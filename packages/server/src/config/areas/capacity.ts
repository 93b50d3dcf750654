import { boolean, emptyMeans, float, integer, list, percent, size } from '../builders.ts'
import { parsePath } from '../formats.ts'

/** Watching more often than this costs more than it tells. */
const POLL_FLOOR_SECONDS = 1

export const capacityRows = {
  maxRunningPerUser: integer({
    env: 'SVCD_MAX_RUNNING_WORKSPACES_PER_USER',
    default: 0,
    min: 0,
    reload: 'live',
    doc: 'Workspaces of one owner that may run at once. 0 means no limit.',
  }),
  volumeQuotaPerWorkspace: integer({
    env: 'SVCD_VOLUME_QUOTA_PER_WORKSPACE',
    default: 0,
    min: 0,
    reload: 'live',
    doc: 'Volumes one workspace may own. 0 means no limit.',
  }),
  admissionMemoryEnabled: boolean({
    env: 'SVCD_ADMISSION_MEMORY_ENABLED',
    default: false,
    reload: 'live',
    doc: 'Refuses a start when the free memory is less than the limit of the workspace plus the margin.',
  }),
  admissionMemoryMarginBytes: emptyMeans(
    'no reserve',
    size({
      env: 'SVCD_ADMISSION_MEMORY_MARGIN',
      default: 1024 ** 3,
      reload: 'live',
      doc: 'Memory such a check keeps free.',
    }),
  ),
  evictionEnabled: boolean({
    env: 'SVCD_MEMORY_EVICTION_ENABLED',
    default: true,
    reload: 'live',
    doc: 'Stops workspaces when the machine runs out of memory.',
  }),
  evictionThresholdPercent: percent({
    env: 'SVCD_MEMORY_EVICTION_THRESHOLD_PERCENT',
    default: 10,
    reload: 'live',
    doc: 'Free memory below which workspaces are stopped.',
  }),
  evictionRecoveryPercent: percent({
    env: 'SVCD_MEMORY_EVICTION_RECOVERY_PERCENT',
    default: 15,
    reload: 'live',
    doc: 'Free memory at which stopping ends; not below the threshold.',
  }),
  evictionSustainPolls: integer({
    env: 'SVCD_MEMORY_EVICTION_SUSTAIN_POLLS',
    default: 3,
    min: 1,
    reload: 'live',
    doc: 'Measurements in a row that must be below the threshold first.',
  }),
  evictionPollIntervalSeconds: float({
    env: 'SVCD_MEMORY_EVICTION_POLL_INTERVAL',
    default: 10,
    floor: POLL_FLOOR_SECONDS,
    reload: 'live',
    doc: 'Seconds between two of these measurements.',
  }),
  watchdogEnabled: boolean({
    env: 'SVCD_RESOURCE_WATCHDOG_ENABLED',
    default: true,
    reload: 'live',
    doc: 'Watches disk, memory and processor, and reports when they run short.',
  }),
  watchdogPollIntervalSeconds: float({
    env: 'SVCD_RESOURCE_WATCHDOG_POLL_INTERVAL',
    default: 60,
    floor: POLL_FLOOR_SECONDS,
    reload: 'live',
    doc: 'Seconds between two looks at them.',
  }),
  diskWarnPercent: percent({
    env: 'SVCD_DISK_WATCHDOG_WARN_PERCENT',
    default: 75,
    reload: 'live',
    doc: 'Disk use that is worth a warning.',
  }),
  diskCriticalPercent: percent({
    env: 'SVCD_DISK_WATCHDOG_CRITICAL_PERCENT',
    default: 90,
    reload: 'live',
    doc: 'Disk use that is critical.',
  }),
  diskPaths: list({
    env: 'SVCD_DISK_WATCHDOG_PATHS',
    of: 'paths',
    item: (value, { home }) => parsePath(value, home),
    default: [],
    reload: 'live',
    doc: 'File systems to watch beside those of the data, the state and the containers.',
  }),
  memoryWatchdogEnabled: boolean({
    env: 'SVCD_MEMORY_WATCHDOG_ENABLED',
    default: true,
    reload: 'live',
    doc: 'Includes memory in that watch.',
  }),
  memoryWarnPercent: percent({
    env: 'SVCD_MEMORY_WATCHDOG_WARN_PERCENT',
    default: 80,
    reload: 'live',
    doc: 'Memory use that is worth a warning.',
  }),
  memoryCriticalPercent: percent({
    env: 'SVCD_MEMORY_WATCHDOG_CRITICAL_PERCENT',
    default: 90,
    reload: 'live',
    doc: 'Memory use that is critical.',
  }),
  cpuWatchdogEnabled: boolean({
    env: 'SVCD_CPU_WATCHDOG_ENABLED',
    default: true,
    reload: 'live',
    doc: 'Includes the processor in that watch.',
  }),
  cpuWarnPercent: percent({
    env: 'SVCD_CPU_WATCHDOG_WARN_PERCENT',
    default: 30,
    reload: 'live',
    doc: 'Share of the last minute in which work waited for a processor that is worth a warning.',
  }),
  cpuCriticalPercent: percent({
    env: 'SVCD_CPU_WATCHDOG_CRITICAL_PERCENT',
    default: 60,
    reload: 'live',
    doc: 'Share of the last minute in which work waited for a processor that is critical.',
  }),
}
