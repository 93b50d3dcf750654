/**
 * The account that owns what the server itself does in a workspace, such as the service terminal. It has no password,
 * never signs in, and can be neither changed nor deleted. Its handle is also the name of the user inside containers.
 */
export const systemAgent = {
  id: '00000000-0000-0000-0000-000000000001',
  email: 'svc@system.invalid',
  handle: 'svc',
} as const
