// Where this machine gets Debian's packages from, in the words of apt, so that the image is made from the same mirror
// and through the same proxy.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The release the image is made of, whatever the machine itself runs. */
export const SUITE = 'bookworm'

/**
 * Lines of a sources.list for the suite of the image. None when this machine is no Debian: mmdebstrap then has a mirror
 * of its own to turn to.
 */
export function debianSources() {
  const own = codename()
  const format = '$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)'
  const { status, stdout } = spawnSync('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'], {
    encoding: 'utf8',
  })
  if (status !== 0 || own === undefined) return []
  const options = isTrue('Acquire::Check-Valid-Until', true) ? '' : '[check-valid-until=no] '
  const lines = stdout.split('\n').flatMap((line) => {
    const [origin, uri, release, component] = line.split('|')
    // Before the first `apt-get update` apt cannot say whose packages they are.
    const isDebian = origin === 'Debian' || origin === '$(ORIGIN)' || origin === ''
    const suite = [own, `${own}-updates`, `${own}-security`].find((name) => name === release)
    if (!isDebian || suite === undefined || component !== 'main') return []
    return [`deb ${options}${uri} ${suite.replace(own, SUITE)} main`]
  })
  return [...new Set(lines)]
}

/** Options for the building apt alone: how this machine reaches its mirrors. */
export function aptOptions() {
  const names = ['Acquire::http::Proxy', 'Acquire::https::Proxy', 'Acquire::http::Proxy-Auto-Detect']
  return names.flatMap((name) => {
    const value = aptConfig(name)
    return value === '' ? [] : [`${name} "${value}";`]
  })
}

function isTrue(name, otherwise) {
  const value = aptConfig(name)
  return value === '' ? otherwise : !/^(no|false|0|off|without|disable)$/i.test(value)
}

function aptConfig(name) {
  const { stdout } = spawnSync('apt-config', ['shell', 'VALUE', name], { encoding: 'utf8' })
  return /^VALUE='(.*)'$/m.exec(stdout ?? '')?.[1] ?? ''
}

function codename() {
  const release = readFileSync('/etc/os-release', 'utf8')
  return /^ID=debian$/m.test(release) ? /^VERSION_CODENAME=(\S+)$/m.exec(release)?.[1] : undefined
}
