import { createServer, type ListenOptions } from 'node:net'
import { socketAnswers } from '../../engine/docker/socket-answers.ts'
import { runProgram } from '../../engine/local/run-program.ts'
import { type Check, type DoctorContext, error, type Finding, ok, warning } from './check.ts'
import { findProgram } from './find-program.ts'

/** So many hosted ports are tried: enough to meet another program that sits in the range. */
const SAMPLE_PORTS = 10

export const networkChecks: readonly Check[] = [
  { name: 'nftables', run: checkNftables },
  { name: 'hosted ports', run: checkHostedPorts },
  { name: 'egress port', run: ({ settings }) => checkPort(settings, settings.egress, 'SVCD_EGRESS_PORT') },
  { name: 'browser port', run: checkBrowserPort },
]

/** In a network namespace that ends with the trial, so that no rule of the host is seen or changed. */
async function checkNftables({ isRoot }: DoctorContext): Promise<Finding> {
  const nft = await findProgram('nft')
  if (nft === undefined) {
    return warning('nft is missing: outgoing traffic cannot be filtered', 'Install it: apt-get install nftables')
  }
  const asUser = isRoot ? [] : ['--user', '--map-root-user']
  const { code, output } = await runProgram('unshare', [...asUser, '--net', nft, 'add', 'table', 'inet', 'svcd_doctor'])
  if (code === 0) return ok('rules can be made in a network namespace')
  return warning(`rules cannot be made: ${output.trim()}`, 'Load the module: modprobe nf_tables')
}

async function checkHostedPorts({ settings }: DoctorContext): Promise<Finding> {
  const { portRangeStart, portsPerWorkspace } = settings.hosting
  if (portsPerWorkspace === 0) return ok('hosting is turned off')
  const ports = Array.from({ length: SAMPLE_PORTS }, (_, index) => portRangeStart + index).filter(
    (port) => port < 65_536,
  )
  const tried = await Promise.all(ports.map((port) => whyTaken({ host: '127.0.0.1', port })))
  const taken = ports.filter((_, index) => tried[index] !== undefined)
  if (taken.length === 0) return ok(`the first ${ports.length} from ${portRangeStart} on are free`)
  if (await isRunning(settings)) return ok(`${taken.length} of the first ${ports.length} are in use, while svcd runs`)
  return warning(
    `in use by other programs: ${taken.join(', ')}`,
    'They are passed over; set SVCD_PORT_RANGE_START to a range of its own to be sure.',
  )
}

async function checkBrowserPort({ settings }: DoctorContext): Promise<Finding> {
  const { listen, port } = settings.network
  if (port === undefined) return ok('SVCD_PORT is not set: only the private socket is served')
  return checkPort(settings, { listen, port }, 'SVCD_PORT')
}

async function checkPort(
  settings: DoctorContext['settings'],
  { listen, port }: { listen: string; port: number },
  setting: string,
): Promise<Finding> {
  const why = await whyTaken({ host: listen, port })
  if (why === undefined) return ok(`${listen}:${port} is free`)
  if (why === 'EADDRINUSE' && (await isRunning(settings))) return ok(`${listen}:${port} is in use, and svcd is running`)
  return error(
    `${listen}:${port} cannot be listened on (${why})`,
    `Stop the program that has it, or change ${setting}.`,
  )
}

/** Only a server has this socket. */
const isRunning = ({ network }: DoctorContext['settings']): Promise<boolean> =>
  network.socket === undefined ? Promise.resolve(false) : socketAnswers(network.socket)

/** The system's word for the reason; undefined when it can be listened on. */
function whyTaken(address: ListenOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? fault.message))
    server.listen(address, () => server.close(() => resolve(undefined)))
  })
}
