/** Becomes the user for good. Throws when root could be had back: nothing must run then. */
export function giveUpRoot(userId: number, groupId: number): void {
  if (!process.setgroups || !process.setgid || !process.setuid) throw new Error('This system has no users')
  process.setgroups([groupId])
  process.setgid(groupId)
  process.setuid(userId)
  if (process.getuid?.() !== userId || process.geteuid?.() !== userId || process.getgid?.() !== groupId) {
    throw new Error('The agent could not become the user of the workspace')
  }
  try {
    process.setuid(0)
  } catch {
    return
  }
  throw new Error('The agent could not give up root')
}
