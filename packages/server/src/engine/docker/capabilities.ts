/**
 * What the agent needs while it is root: to give the home to its user, to become that user, and to end what it began.
 * Once it has become that user it holds none of them, and without sudo nothing can ever get one again.
 */
const AGENT = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETUID']
/** What sudo and package managers need beside that: no more than engines give to every container. */
const SUDO = ['AUDIT_WRITE', 'FSETID', 'NET_BIND_SERVICE', 'SETFCAP', 'SETPCAP', 'SYS_CHROOT']

export function capabilities(sudo: boolean): string[] {
  return (sudo ? [...AGENT, ...SUDO] : AGENT).map((name) => `CAP_${name}`)
}
