import type { ImageStorage } from '../container-engine.ts'

/** There are none, so none is ever missing: a workspace has the programs of the host. */
export const localImages: ImageStorage = {
  has: async () => true,
  pull: async () => undefined,
}
