import { ImageList } from '@svc/protocol/images'
import { type Route, route } from '../../kernel/route.ts'
import type { Images } from './images.ts'

export const imageRoutes = (images: Images): Route[] => [
  route({
    method: 'GET',
    path: '/images',
    tag: 'Images',
    summary: 'The images workspaces may be made from',
    needs: { permission: 'view-images', on: '/images' },
    reply: ImageList,
    handle: () => images.list(),
  }),
]
