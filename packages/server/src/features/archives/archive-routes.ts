import { ImportQuery } from '@svc/protocol/archives'
import { Workspace as WorkspaceReply } from '@svc/protocol/workspaces'
import * as z from 'zod'
import { attachment } from '../../kernel/content-disposition.ts'
import { Reply, type Route, route } from '../../kernel/route.ts'
import { workspaceToWire } from '../workspaces/workspace-wire.ts'
import type { ArchiveHead, WorkspaceExport } from './workspace-export.ts'
import type { WorkspaceImport } from './workspace-import.ts'

const tag = 'Workspaces'

export const archiveRoutes = (archives: { exports: WorkspaceExport; imports: WorkspaceImport }): Route[] => [
  route({
    method: 'GET',
    path: '/workspaces/:id/export',
    tag,
    summary: 'Download a workspace with its home as a `.tar.gz`',
    needs: { permission: 'export-workspace', on: '/workspaces/:id' },
    params: z.object({ id: z.string() }),
    reply: {
      mediaType: 'application/gzip',
      description:
        '`workspace.json`, then the tree of the home, then `left-out.txt` if something could not go in. `X-Estimated-Size` is a guess at its size in bytes',
    },
    refusals: ['workspace_not_found'],
    async handle({ caller, params, request }) {
      const { exports } = archives
      if (request.method === 'HEAD') return new Reply('', { headers: headersOf(await exports.head(params.id)) })
      const { content, ...head } = await exports.open({ actor: caller, request }, params.id)
      return new Reply(content, { headers: headersOf(head) })
    },
  }),
  route({
    method: 'POST',
    path: '/workspaces/import',
    tag,
    summary: 'Make a workspace from an archive of this server',
    needs: { permission: 'create-workspace', on: '/workspaces' },
    query: ImportQuery,
    upload: {
      file: { field: 'file', description: 'The `.tar.gz`' },
      fields: { name: 'For the workspace; that in the archive unless given' },
    },
    reply: WorkspaceReply,
    refusals: ['bad_request', 'archive_invalid', 'archive_too_large', 'conflict'],
    handle: async ({ caller, query, upload, request }) =>
      workspaceToWire(await archives.imports.import(caller, upload, query.name, request)),
  }),
]

const headersOf = ({ fileName, estimatedBytes }: ArchiveHead) => ({
  'content-type': 'application/gzip',
  'content-disposition': attachment(fileName),
  'x-estimated-size': String(estimatedBytes),
})
