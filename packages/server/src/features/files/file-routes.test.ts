import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type FilesServer, startFiles } from '../../testing/start-files.ts'

let server: FilesServer
beforeAll(async () => {
  server = await startFiles({ env: { SVCD_FILE_UPLOAD_SIZE_MAX: '3145728', SVCD_CONTAINER_TMP_SIZE: '2m' } })
})
afterAll(() => server[Symbol.asyncDispose]())
/** Whatever was asked, and however it ended: nothing goes on in the workspace. */
afterEach(() => expect.poll(() => server.calls()).toBe(0))

/** Names that something between a browser and a file has tripped over before. */
const ODD_NAMES = [
  'with space',
  'tab\tnewline\nreturn\rend',
  `"double" 'single' \`back\``,
  '-rf',
  '--',
  '...',
  '..x',
  '%41%2e%2E',
  'a?b#c&d=e+f',
  'größe – 名前 😀',
  '\\back\\slash',
  '$(id);|<>*[]{}!~^',
  'x'.repeat(255),
  'ö'.repeat(127),
]

const refused = (status: number, code: string, detail: unknown = expect.any(String)) => ({
  status,
  json: { code, detail, request_id: expect.any(String) },
})
const NOT_FOUND = refused(404, 'not_found', 'Path not found')
const DENIED = refused(403, 'file_permission_denied', 'Permission denied')
const INVALID = refused(400, 'bad_request', 'Invalid path')

describe('a listing', () => {
  test('is sorted by name, with the paths, sizes and times of what is there', async () => {
    const folder = await server.prepare(
      'mkdir b && printf four > c && ln -s b a && ln -s nowhere d && touch -d @1000.5 c',
    )
    const { status, json } = await server.answer({ path: folder })
    expect(status).toBe(200)
    expect(json).toMatchObject([
      { name: 'a', path: `${folder}/a`, is_dir: true, size: 0 },
      { name: 'b', path: `${folder}/b`, is_dir: true, size: 0 },
      { name: 'c', path: `${folder}/c`, is_dir: false, size: 4, mtime: 1000.5, ctime: expect.any(Number) },
      { name: 'd', path: `${folder}/d`, is_dir: false, size: 0 },
    ])
  })

  test('is of the root, unless something else is asked for', async () => {
    const { json } = await server.answer()
    expect(json).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'home', path: '/home', is_dir: true })]),
    )
    expect((await server.answer({ path: '/' })).json).toEqual(json)
  })

  test('of an empty directory is empty', async () => {
    expect(await server.answer({ path: await server.prepare() })).toEqual({ status: 200, json: [] })
  })

  test('shows names that are no text with marks', async () => {
    const folder = await server.prepare(`touch "$(printf 'bad\\377')" good`)
    const { json } = await server.answer({ path: folder })
    expect(json).toMatchObject([{ name: 'bad\ufffd' }, { name: 'good' }])
    expect((await server.answer({ at: '/content', path: `${folder}/bad\ufffd` })).status).toBe(404)
  })

  test.each([
    ['what is not there', '/home/svc/none', NOT_FOUND],
    ['a file', '/etc/passwd', refused(400, 'bad_request', 'Not a directory')],
    ['a relative path', 'home', INVALID],
    ['a name that is too long', `/${'x'.repeat(256)}`, INVALID],
    ['a path that is too long', `/${'x/'.repeat(2048)}`, INVALID],
    ['a path with NUL', '/a\0b', refused(400, 'bad_request')],
  ])('of %s is refused', async (_, path, answer) => {
    expect(await server.answer({ path })).toEqual(answer)
  })

  test('of what the user of the workspace may not read is refused, and not empty', async () => {
    const folder = await server.prepare('mkdir shut && chmod 0 shut')
    expect(await server.answer({ path: `${folder}/shut` })).toEqual(DENIED)
    expect(await server.answer({ path: `${folder}/shut/in` })).toEqual(DENIED)
    await server.sh(`rm -rf ${folder}`)
  })
})

describe('an odd name', () => {
  test.each(ODD_NAMES)('%j is uploaded, listed, read, downloaded, renamed and deleted', async (name) => {
    const folder = await server.prepare()
    const path = `${folder}/${name}`
    expect(await (await server.upload('one', path)).json()).toEqual({ path, status: 'uploaded' })
    expect((await server.answer({ path: folder })).json).toMatchObject([{ name, path, size: 3 }])
    expect((await server.answer({ at: '/content', path })).json).toEqual({ path, content: 'one' })
    const download = await server.call({ at: '/download', path })
    expect([download.headers.get('content-disposition'), await download.text()]).toEqual([
      expect.stringMatching(/^attachment; filename="[ -~]*"/),
      'one',
    ])
    const moved = `${folder}/in/${name}`
    const body = { old_path: path, new_path: moved }
    expect(await server.answer({ method: 'POST', at: '/rename', body })).toEqual({
      status: 200,
      json: { path: moved, status: 'renamed' },
    })
    expect(await server.answer({ method: 'DELETE', path: moved })).toEqual({
      status: 200,
      json: { path: moved, status: 'deleted' },
    })
    expect((await server.answer({ path: folder })).json).toMatchObject([{ name: 'in' }])
  })

  test.each(['a/../b', './b', 'x//b/', 'x/y/../../b'])('%j is a way to the same file', async (way) => {
    const folder = await server.prepare('mkdir -p a x && printf here > b && printf there > x/b')
    const content = way === 'x//b/' ? 'there' : 'here'
    const path = `${folder}/${way}`
    expect((await server.answer({ at: '/content', path })).json).toEqual({ path, content })
  })
})

describe('a text', () => {
  test.each([
    ['of no length', '', ''],
    ['with every kind of letter', 'größe\r\n名前\t😀', 'größe\r\n名前\t😀'],
    ['with a mark of byte order', '\ufeffa', '\ufeffa'],
    ['of the greatest length', 'x'.repeat(1_000_000), 'x'.repeat(1_000_000)],
  ])('%s is read as it is', async (_, written, read) => {
    const path = `${await server.prepare()}/text`
    await server.upload(written, path)
    const { status, json } = await server.answer({ at: '/content', path })
    expect([status, Reflect.get(Object(json), 'content') === read]).toEqual([200, true])
  })

  test('may be made up by the system as it is read', async () => {
    const { json } = await server.answer({ at: '/content', path: '/proc/self/limits' })
    expect(json).toMatchObject({ content: expect.stringContaining('Max open files') })
  })

  const TOO_LARGE = refused(404, 'not_found', 'File not found or too large')
  test.each([
    ['what is not there', ':', TOO_LARGE],
    ['a directory', 'mkdir it', TOO_LARGE],
    ['something below a file', 'touch it', TOO_LARGE, '/it/below'],
    ['a named pipe', 'mkfifo it', TOO_LARGE],
    ['one byte too many', 'head -c 1000001 /dev/zero | tr "\\0" x > it', TOO_LARGE],
    ['NUL', 'printf "a\\0b" > it', refused(400, 'file_not_text')],
    ['bytes that are no text', 'printf "a\\377b" > it', refused(400, 'file_not_text')],
    ['what must not be read', 'touch it && chmod 0 it', DENIED],
  ])('is not %s', async (_, script, answer, below = '/it') => {
    const folder = await server.prepare(script)
    expect(await server.answer({ at: '/content', path: `${folder}${below}` })).toEqual(answer)
  })
})

describe('an upload', () => {
  test('goes to the shared home under its own name, unless a path is given', async () => {
    expect(await (await server.upload('x', undefined, 'größe (1).txt')).json()).toEqual({
      path: '/home/svc/größe (1).txt',
      status: 'uploaded',
    })
    expect(await (await server.upload('x', '', 'b.txt')).json()).toMatchObject({ path: '/home/svc/b.txt' })
    expect(await server.sh('ls -1 /home/svc/*.txt')).toBe('/home/svc/b.txt\n/home/svc/größe (1).txt')
  })

  test('makes directories, replaces files, keeps their modes, and belongs to the user', async () => {
    const folder = await server.prepare('printf old > run && chmod 750 run')
    await server.upload('new', `${folder}/run`)
    await server.upload('new', `${folder}/a/b/c`)
    const stat = await server.sh(`cd ${folder} && stat -c '%n %a %U %s' run a/b/c; id -un; ls -A . a/b`)
    const user = await server.sh('id -un')
    expect(stat.split('\n')).toEqual([
      `run 750 ${user} 3`,
      `a/b/c 644 ${user} 3`,
      user,
      '.:',
      'a',
      'run',
      '',
      'a/b:',
      'c',
    ])
  })

  test.each([
    ['without any name', undefined, '..', refused(400, 'bad_request', 'No filename provided')],
    ['to a relative path', 'home', 'x', INVALID],
    ['to a directory', '/home/svc', 'x', refused(409, 'conflict', 'There is a directory at this path')],
    ['below a file', '/etc/passwd/x', 'x', refused(409, 'conflict', 'A part of the path is not a directory')],
    ['where the user may not write', '/etc/x', 'x', DENIED],
  ])('%s is refused', async (_, path, name, answer) => {
    const response = await server.upload('content', path, name)
    expect({ status: response.status, json: await response.json() }).toEqual(answer)
  })

  test('of no file, or of no form, is refused', async () => {
    const form = new FormData()
    form.append('other', 'x')
    expect((await server.answer({ method: 'POST', at: '/upload', body: form })).status).toBe(422)
    expect((await server.answer({ method: 'POST', at: '/upload', body: {} })).status).toBe(415)
  })

  test('that is too large is refused as soon as that is known, and leaves nothing', async () => {
    const folder = await server.prepare('printf old > file')
    const answer = refused(413, 'payload_too_large', 'File exceeds 3 MB limit')
    for (const bytes of [3 * MB + 1, 5 * MB]) {
      const response = await server.upload(new Uint8Array(bytes), `${folder}/file`)
      expect({ status: response.status, json: await response.json() }).toEqual(answer)
      await server.upload(new Uint8Array(bytes), `${folder}/new/parents/file`)
    }
    expect((await server.upload(new Uint8Array(3 * MB), `${folder}/fits`)).status).toBe(200)
    expect(await server.sh(`cd ${folder} && ls -A . && cat file && rm fits`)).toBe('file\nfits\nold')
  })

  test('for which there is no space is refused with the reason, and leaves nothing', async () => {
    const response = await server.upload(new Uint8Array(3 * MB), '/tmp/large')
    expect({ status: response.status, json: await response.json() }).toEqual(
      refused(503, 'unavailable', expect.stringContaining('no space left')),
    )
    expect(await server.sh('ls -A /tmp | grep -v ^svc')).toBe('')
  })
})

const MB = 1024 * 1024

describe('renaming', () => {
  const rename = (old_path: string, new_path: string) =>
    server.answer({ method: 'POST', at: '/rename', body: { old_path, new_path } })

  test('moves directories with what is in them, to another disk too', async () => {
    const folder = await server.prepare('mkdir -p dir/sub && printf x > dir/sub/file')
    expect((await rename(`${folder}/dir`, `/tmp/moved/dir`)).status).toBe(200)
    expect((await rename('/tmp/moved', `${folder}/back`)).status).toBe(200)
    expect(await server.sh(`cd ${folder} && find . -type f`)).toBe('./back/dir/sub/file')
  })

  test.each([
    ['what is not there', 'none', 'new', refused(404, 'not_found', 'Source not found')],
    ['to what is there', 'one', 'two', refused(409, 'conflict', 'Destination already exists')],
    ['to an empty directory', 'dir', 'empty', refused(409, 'conflict', 'Destination already exists')],
    ['to itself', 'one', 'one', refused(409, 'conflict', 'Destination already exists')],
    ['into itself', 'dir', 'dir/sub', refused(400, 'bad_request')],
    ['to below a file', 'one', 'two/x', refused(409, 'conflict', 'A part of the path is not a directory')],
    ['where the user may not write', 'one', '../../../etc/x', DENIED],
  ])('%s is refused', async (_, from, to, answer) => {
    const folder = await server.prepare('printf 1 > one && printf 2 > two && mkdir dir empty')
    expect(await rename(`${folder}/${from}`, `${folder}/${to}`)).toEqual(answer)
    expect(await server.sh(`cd ${folder} && ls && cat one two`)).toBe('dir\nempty\none\ntwo\n12')
  })

  test('of many that want one name, one gets it, and no content is lost', async () => {
    const folder = await server.prepare('for n in 1 2 3 4 5 6 7 8; do printf $n > $n; done')
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, n) => rename(`${folder}/${n + 1}`, `${folder}/winner`)),
    )
    expect(results.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
    expect(await server.sh(`cat ${folder}/* | fold -w1 | sort | tr -d '\\n'`)).toBe('12345678')
  })

  test('without both paths is refused', async () => {
    const body = { old_path: '/a' }
    expect(await server.answer({ method: 'POST', at: '/rename', body })).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ['body', 'new_path'], type: 'missing' }] },
    })
    expect(await rename('a', '/b')).toEqual(INVALID)
    expect(await rename('/a', 'b')).toEqual(INVALID)
  })
})

describe('deleting', () => {
  test('takes directories with everything in them, and links alone', async () => {
    const folder = await server.prepare(
      'mkdir -p dir/sub && ln -s ../dir dir/sub/up && ln -s dir link && ln -s no gone',
    )
    for (const name of ['link', 'gone', 'dir']) {
      expect((await server.answer({ method: 'DELETE', path: `${folder}/${name}` })).status).toBe(200)
    }
    expect((await server.answer({ path: folder })).json).toEqual([])
    expect(await server.answer({ method: 'DELETE', path: `${folder}/dir` })).toEqual(NOT_FOUND)
    expect(await server.answer({ method: 'DELETE', path: '/etc/passwd/x' })).toEqual(NOT_FOUND)
  })

  test.each(['/', '/home', '/home/svc', '/home/svc/../svc/', '/..', '/opt/svc', '/run/svc', '/tmp/svc'])(
    '%s stays where it is',
    async (path) => {
      const answer = refused(400, 'bad_request', expect.stringContaining('it must stay where it is'))
      expect(await server.answer({ method: 'DELETE', path })).toEqual(answer)
      const body = { old_path: path, new_path: '/home/svc/elsewhere' }
      expect(await server.answer({ method: 'POST', at: '/rename', body })).toEqual(answer)
    },
  )

  test('needs a path, and the right of the user', async () => {
    expect(await server.answer({ method: 'DELETE' })).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ['query', 'path'], type: 'missing' }] },
    })
    expect(await server.answer({ method: 'DELETE', path: '/etc/passwd' })).toEqual(DENIED)
    expect((await server.answer({ method: 'DELETE', path: 'etc' })).status).toBe(400)
  })
})

describe('a new directory', () => {
  const make = (path: string) => server.answer({ method: 'POST', at: '/directory', body: { path } })

  test('is made with those that lead to it, once', async () => {
    const folder = await server.prepare()
    const path = `${folder}/a/b`
    expect(await make(`${path}/`)).toEqual({ status: 200, json: { path, status: 'created' } })
    expect(await make(path)).toEqual(refused(409, 'conflict', 'Destination already exists'))
    expect((await server.answer({ path: `${folder}/a` })).json).toMatchObject([{ name: 'b', is_dir: true }])
  })

  test.each([
    ['/', 409],
    ['/etc/passwd/x', 409],
    ['/etc/x', 403],
    ['x', 400],
  ])('%s is answered with %i', async (path, status) => {
    expect((await make(path)).status).toBe(status)
  })
})

test('every request counts as use of the workspace', async () => {
  const folder = await server.prepare('printf x > file')
  const requests = [
    () => server.call({ path: folder }),
    () => server.call({ at: '/content', path: `${folder}/file` }),
    () => server.call({ at: '/download', path: `${folder}/file` }),
    () => server.call({ method: 'HEAD', at: '/download', path: folder }),
    () => server.upload('x', `${folder}/up`),
    () => server.call({ method: 'POST', at: '/rename', body: { old_path: `${folder}/up`, new_path: `${folder}/new` } }),
    () => server.call({ method: 'POST', at: '/directory', body: { path: `${folder}/dir` } }),
    () => server.call({ method: 'DELETE', path: `${folder}/new` }),
    () => server.call({ path: '/none' }),
  ]
  for (const request of requests) {
    server.clock.advance(60_000)
    expect(await server.idleSeconds()).toBe(60)
    await (await request()).text()
    expect(await server.idleSeconds()).toBe(0)
  }
})
