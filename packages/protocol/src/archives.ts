import * as z from 'zod'

/** Archives of workspaces: `GET /workspaces/{id}/export` and `POST /workspaces/import`. */

/** Changes when an older server could no longer read what a newer one writes. */
export const ARCHIVE_FORMAT = 1

/** `workspace.json`, the first member of an archive; the home is in the directory `home` behind it. */
export interface ArchiveDescription {
  readonly format: typeof ARCHIVE_FORMAT
  readonly name: string
  /** Of the server that made it. An archive is taken only by that server. */
  readonly instance_id: string
  readonly image: string | null
  readonly service_command: string | null
  readonly auto_start: boolean
  readonly mounts: readonly string[] | null
  readonly env: Readonly<Record<string, string>> | null
  readonly health_check: object | null
  readonly allowed_domains: readonly string[] | null
  readonly rejected_domains: readonly string[] | null
  readonly settings: object | null
  readonly num_ports: number
  readonly egress_mode: string
  readonly per_handle_home: boolean
  readonly classification_banner: string | null
}

export const ImportQuery = z.object({
  name: z
    .string()
    .optional()
    .meta({ description: 'For clients that cannot send it as a field of the form, which goes before this' }),
})
