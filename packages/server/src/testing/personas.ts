import { makeWorkspace } from './live-workspace.ts'
import { type AccountsServer, field, type Person, succeed } from './start-accounts.ts'

const ROLES = ['owners', 'collaborators', 'coders', 'spectators'] as const

/** What somebody can be to a workspace, from most to least. The administrator of the server is a stranger there. */
export const PERSONAS = [
  'owner',
  ...ROLES,
  'shared with',
  'in a group shared with',
  'stranger',
  'administrator',
] as const
export type Persona = (typeof PERSONAS)[number]

/** One person of each kind. */
export async function invitePersonas(server: AccountsServer) {
  const people = new Map<Persona, Person>()
  for (const persona of PERSONAS) {
    const person = persona === 'administrator' ? server.admin : await server.person(persona.replaceAll(' ', '-'))
    people.set(persona, person)
  }
  function as(persona: Persona): Person {
    const person = people.get(persona)
    if (!person) throw new Error(`nobody is ${persona}`)
    return person
  }
  const team = field(await succeed(server.admin.post('/groups', { name: 'team' })), 'id')
  await succeed(server.admin.post(`/groups/${team}/members`, { user_id: as('in a group shared with').id }))
  return {
    as,
    /** A new workspace to which everybody is what they are called; answers its id. */
    async workspace(): Promise<string> {
      const owner = as('owner')
      const id = await makeWorkspace(owner)
      for (const role of ROLES) {
        await succeed(owner.post(`/workspaces/${id}/roles/${role}`, { email: as(role).email }))
      }
      await succeed(owner.post(`/workspaces/${id}/members`, { email: as('shared with').email }))
      await succeed(owner.post(`/workspaces/${id}/groups`, { group_id: team }))
      return id
    },
  }
}

export type Personas = Awaited<ReturnType<typeof invitePersonas>>
