import { expect, test } from 'vitest'
import { startAccounts, succeed } from '../../testing/start-accounts.ts'

test('whoever is signed in sees which images there are, and strangers do not', async () => {
  await using server = await startAccounts({
    env: { SVCD_IMAGE_NAME: 'house:latest', SVCD_ALLOWED_IMAGES: 'zebra:1,ant:1' },
  })
  const ann = await server.person('ann')
  const answer = await ann.get('/images')
  expect(answer.status).toBe(200)
  expect(answer.json).toEqual({ default: 'house:latest', allowed: ['ant:1', 'house:latest', 'zebra:1'] })
  expect((await server.stranger.get('/images')).status).toBe(401)
})

test('without view-images the list is closed', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  const denied = { action: 0, principal_type: 1, permission: 'view-images', user_id: ann.id }
  const entries = (await succeed(server.admin.get('/acl/resource?resource=/images'))).json as object[]
  await succeed(server.admin.put('/acl/resource?resource=/images', [denied, ...entries]))
  expect((await ann.get('/images')).status).toBe(403)
})
