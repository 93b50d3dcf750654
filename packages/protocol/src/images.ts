import * as z from 'zod'

/** What `GET /images` answers. */
export const ImageList = z.object({
  default: z.string().meta({ description: 'The image of workspaces that name none' }),
  allowed: z.array(z.string()).meta({ description: 'Images a workspace may name, the default among them' }),
})
export type ImageList = z.infer<typeof ImageList>
