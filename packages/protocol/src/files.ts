import * as z from 'zod'

/** The files of a running workspace: what `/workspaces/{id}/files` and the addresses below it take and answer. */

/** The most that `files/content` answers. */
export const MAX_CONTENT_BYTES = 1_000_000

const Path = z.string().meta({ description: 'Absolute, as programs in the workspace name it' })

export const FileEntry = z.object({
  name: z.string().meta({ description: 'May hold anything but a slash; bytes that are no text are shown as U+FFFD' }),
  path: Path,
  is_dir: z.boolean().meta({ description: 'Of what a link leads to' }),
  size: z.int().meta({ description: 'Bytes; 0 for directories' }),
  mtime: z.number().meta({ description: 'When its content was last changed: epoch seconds with fractions' }),
  ctime: z.number().meta({ description: 'When its content, name or rights were last changed' }),
})
export type FileEntry = z.infer<typeof FileEntry>

export const FileList = z.array(FileEntry)

export const ListFilesQuery = z.object({ path: Path.default('/') })
export const FileQuery = z.object({ path: Path })

export const FileContent = z.object({
  path: z.string().meta({ description: 'As it was asked for' }),
  content: z.string(),
})

export const UploadFileQuery = z.object({
  path: Path.optional().meta({
    description: 'Where the file goes, with its name; in the shared home under the name in the form unless given',
  }),
})
export const FileUploaded = z.object({ path: Path, status: z.literal('uploaded') })

export const RenameFile = z.object({ old_path: Path, new_path: Path })
export const FileRenamed = z.object({ path: Path, status: z.literal('renamed') })

export const CreateDirectory = z.object({ path: Path })
export const DirectoryCreated = z.object({ path: Path, status: z.literal('created') })

export const FileDeleted = z.object({ path: Path, status: z.literal('deleted') })
