import { createServer } from 'node:net'

/** Where hosted applications are published. */
const LOOPBACK = '127.0.0.1'

/** Whether a program could listen on this port of the machine right now. */
export function isFreePort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host: LOOPBACK, port, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
