import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type FilesServer, startFiles } from '../../testing/start-files.ts'

let server: FilesServer
beforeAll(async () => {
  server = await startFiles({ env: { SVCD_FILE_UPLOAD_SIZE_MAX: '1048576' } })
})
afterAll(() => server[Symbol.asyncDispose]())
afterEach(() => expect.poll(() => server.calls()).toBe(0))

/** The events that the trail has more after `work`. */
async function written(work: () => Promise<unknown>): Promise<unknown[]> {
  const events = async () => {
    const rows = await server.storage.db.selectFrom('audit_events').select(['event', 'detail']).orderBy('id').execute()
    return rows.filter(({ event }) => event.startsWith('file.'))
  }
  const before = await events()
  await work()
  return (await events()).slice(before.length)
}

const breakTrail = () =>
  server.storage.transaction((tx) => tx.schema.alterTable('audit_events').renameTo('elsewhere').execute())
const mendTrail = () =>
  server.storage.transaction((tx) => tx.schema.alterTable('elsewhere').renameTo('audit_events').execute())

test('the trail tells whose files were read, written, moved and deleted, and how', async () => {
  const last = async () => {
    const row = await server.storage.db.selectFrom('audit_events').selectAll().orderBy('id', 'desc').executeTakeFirst()
    const { event, actor_id, target_type, target_id, method, detail } = row ?? {}
    expect([actor_id, target_type, target_id]).toEqual([server.admin.id, 'workspace', server.id])
    return [event, method, JSON.parse(detail ?? 'null')]
  }
  const folder = await server.prepare('mkdir dir')
  await server.upload('12345', `${folder}//a/../a`)
  expect(await last()).toEqual(['file.write', 'POST', { path: `${folder}/a`, size: 5 }])
  await server.call({ at: '/content', path: `${folder}/a` })
  expect(await last()).toEqual(['file.download', 'GET', { path: `${folder}/a`, size: 5, via: 'content' }])
  await (await server.call({ at: '/download', path: `${folder}/a` })).text()
  expect(await last()).toEqual(['file.download', 'GET', { path: `${folder}/a`, size: 5 }])
  await (await server.call({ at: '/download', path: `${folder}/dir` })).bytes()
  expect(await last()).toEqual(['file.download', 'GET', { path: `${folder}/dir` }])
  const body = { old_path: `${folder}/a`, new_path: `${folder}/b` }
  await server.call({ method: 'POST', at: '/rename', body })
  expect(await last()).toEqual(['file.write', 'POST', { path: `${folder}/b`, from: `${folder}/a` }])
  await server.call({ method: 'POST', at: '/directory', body: { path: `${folder}/new` } })
  expect(await last()).toEqual(['file.write', 'POST', { path: `${folder}/new` }])
  await server.call({ method: 'DELETE', path: `${folder}/b` })
  expect(await last()).toEqual(['file.delete', 'DELETE', { path: `${folder}/b` }])
})

test('listings, and whatever was refused, are not in it', async () => {
  const folder = await server.prepare('printf "a\\0" > binary')
  const got = await written(async () => {
    await server.call({ path: folder })
    await server.call({ at: '/content', path: `${folder}/none` })
    await server.call({ at: '/content', path: `${folder}/binary` })
    await server.call({ at: '/download', path: `${folder}/none` })
    await server.upload('x', '/etc/none')
    await server.upload(new Uint8Array(1_048_577), `${folder}/large`)
    await server.call({ method: 'POST', at: '/rename', body: { old_path: `${folder}/none`, new_path: `${folder}/x` } })
    await server.call({ method: 'POST', at: '/directory', body: { path: folder } })
    await server.call({ method: 'DELETE', path: `${folder}/none` })
  })
  expect(got).toEqual([])
})

test('what was done only in part is in it, and says so', async () => {
  const folder = await server.prepare('mkdir -p tree/a tree/b && touch tree/a/1 tree/b/2 file && chmod 555 tree/b')
  const path = `${folder}/tree`
  const deleting = () => server.answer({ method: 'DELETE', path })
  expect(await deleting()).toMatchObject({ status: 403 })
  expect(await server.sh(`cd ${path} && find . -type f`)).toBe('./b/2')
  expect((await server.audit('file.delete')).at(-1)).toEqual({ path, incomplete: true })
  const body = { old_path: path, new_path: `/tmp/${crypto.randomUUID()}` }
  expect(await server.answer({ method: 'POST', at: '/rename', body })).toMatchObject({ status: 403 })
  expect((await server.audit('file.write')).at(-1)).toEqual({ path: body.new_path, from: path, incomplete: true })
  await server.sh(`chmod 755 ${path}/b && chmod -R u+w ${body.new_path} && rm -r ${body.new_path}`)
})

test('no byte comes out, and no file is written, without a row', async () => {
  const folder = await server.prepare('printf secret > file && head -c 5000000 /dev/zero > large && mkdir dir')
  await breakTrail()
  try {
    for (const [at, path] of [
      ['/content', 'file'],
      ['/download', 'file'],
      ['/download', 'large'],
      ['/download', 'dir'],
    ] as const) {
      const answer = await server.answer({ at, path: `${folder}/${path}` })
      expect(answer).toMatchObject({ status: 500, json: { code: 'internal_error' } })
      expect(JSON.stringify(answer)).not.toContain('secret')
    }
    expect((await server.upload('new', `${folder}/file`)).status).toBe(500)
    expect((await server.upload('new', `${folder}/made/file`)).status).toBe(500)
    expect((await server.answer({ method: 'DELETE', path: `${folder}/large` })).status).toBe(500)
  } finally {
    await mendTrail()
  }
  expect(await server.sh(`cd ${folder} && ls -A && cat file`)).toBe('dir\nfile\nsecret')
})
