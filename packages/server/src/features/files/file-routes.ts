import { Readable } from 'node:stream'
import type { ErrorCode } from '@svc/protocol/errors'
import {
  CreateDirectory,
  DirectoryCreated,
  FileContent,
  FileDeleted,
  FileList,
  FileQuery,
  FileRenamed,
  FileUploaded,
  ListFilesQuery,
  RenameFile,
  UploadFileQuery,
} from '@svc/protocol/files'
import * as z from 'zod'
import { attachment } from '../../kernel/content-disposition.ts'
import { allOf, Reply, type Route, route } from '../../kernel/route.ts'
import type { DownloadHead, FileDownloads } from './file-downloads.ts'
import type { FileUploads } from './file-uploads.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

const tag = 'Files'
const on = '/workspaces/:id'
const params = z.object({ id: z.string() })
const viewing = { permission: 'files-view', on } as const
const reading = allOf(viewing, { permission: 'files-download', on })
const writing = allOf(viewing, { permission: 'files-write', on })

const REFUSALS: readonly ErrorCode[] = [
  'bad_request',
  'file_permission_denied',
  'workspace_not_found',
  'container_not_running',
  'unavailable',
]

interface FileRouteParts {
  readonly files: WorkspaceFiles
  readonly downloads: FileDownloads
  readonly uploads: FileUploads
}

export const fileRoutes = ({ files, downloads, uploads }: FileRouteParts): Route[] => [
  route({
    method: 'GET',
    path: '/workspaces/:id/files',
    tag,
    summary: 'List a directory, sorted by name',
    needs: viewing,
    params,
    query: ListFilesQuery,
    reply: FileList,
    // What is not there is no empty directory, and one that must not be read is none either: somebody who mistyped a
    // path, or lost a directory, has to see that.
    refusals: ['not_found', ...REFUSALS],
    handle: ({ params, query }) => files.list(params.id, query.path),
  }),
  route({
    method: 'GET',
    path: '/workspaces/:id/files/content',
    tag,
    summary: 'Read a text of up to 1 MB',
    needs: reading,
    params,
    query: FileQuery,
    reply: FileContent,
    refusals: ['not_found', 'file_not_text', ...REFUSALS],
    async handle({ caller, params, query, request }) {
      const content = await downloads.readText({ actor: caller, request }, params.id, query.path)
      return { path: query.path, content }
    },
  }),
  route({
    method: 'GET',
    path: '/workspaces/:id/files/download',
    tag,
    summary: 'Download a file, or a directory as a `.tar.gz`',
    needs: reading,
    params,
    query: FileQuery,
    reply: {
      mediaType: 'application/octet-stream',
      description:
        'The bytes of the file. Of a directory, `application/gzip`: an archive with names relative to it, without what the user of the workspace may not read',
    },
    refusals: ['not_found', ...REFUSALS],
    async handle({ caller, params, query, request }) {
      if (request.method === 'HEAD') {
        // A stream, because the length of any other body would take the place of ours.
        return new Reply(Readable.from([]), { headers: headersOf(await downloads.head(params.id, query.path)) })
      }
      const download = await downloads.open({ actor: caller, request }, params.id, query.path)
      return new Reply(download.content, { headers: headersOf(download) })
    },
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/files/upload',
    tag,
    summary: 'Upload a file; one of that path is replaced, and directories that lead to it are made',
    needs: writing,
    params,
    query: UploadFileQuery,
    upload: { file: { field: 'file', description: 'The file' } },
    reply: FileUploaded,
    refusals: ['payload_too_large', 'conflict', 'not_found', ...REFUSALS],
    async handle({ caller, params, query, upload, request }) {
      const path = await uploads.receive({ actor: caller, request }, params.id, upload, query.path)
      return { path, status: 'uploaded' as const }
    },
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/files/rename',
    tag,
    summary: 'Give a file or directory another path; nothing is replaced, and directories that lead there are made',
    needs: writing,
    params,
    body: RenameFile,
    reply: FileRenamed,
    refusals: ['not_found', 'conflict', ...REFUSALS],
    async handle({ caller, params, body, request }) {
      const paths = { from: body.old_path, to: body.new_path }
      return { path: await files.rename({ actor: caller, request }, params.id, paths), status: 'renamed' as const }
    },
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/files/directory',
    tag,
    summary: 'Make a directory, and those that lead to it',
    needs: writing,
    params,
    body: CreateDirectory,
    reply: DirectoryCreated,
    refusals: ['not_found', 'conflict', ...REFUSALS],
    async handle({ caller, params, body, request }) {
      const path = await files.makeDirectory({ actor: caller, request }, params.id, body.path)
      return { path, status: 'created' as const }
    },
  }),
  route({
    method: 'DELETE',
    path: '/workspaces/:id/files',
    tag,
    summary: 'Delete a file, or a directory with everything in it',
    needs: writing,
    params,
    query: FileQuery,
    reply: FileDeleted,
    refusals: ['not_found', ...REFUSALS],
    async handle({ caller, params, query, request }) {
      const path = await files.remove({ actor: caller, request }, params.id, query.path)
      return { path, status: 'deleted' as const }
    },
  }),
]

const headersOf = ({ kind, fileName, length }: DownloadHead) => ({
  'content-type': kind === 'file' ? 'application/octet-stream' : 'application/gzip',
  'content-disposition': attachment(fileName),
  ...(length === undefined ? {} : { 'content-length': String(length) }),
})
