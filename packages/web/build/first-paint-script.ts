import { readFile } from 'node:fs/promises'
import type { Plugin } from 'vite'

const SOURCE = new URL('../src/app/first-paint.js', import.meta.url)

/**
 * Puts `first-paint.js` into the head as a classic, blocking script. Vite bundles only module scripts, which run
 * after the first paint, and the content security policy forbids inline ones.
 */
export function firstPaintScript(): Plugin {
  let emitted: string | undefined
  return {
    name: 'svc:first-paint-script',
    async generateBundle() {
      const id = this.emitFile({ type: 'asset', name: 'first-paint.js', source: await readFile(SOURCE) })
      emitted = this.getFileName(id)
    },
    transformIndexHtml: {
      order: 'post',
      handler: () => [
        {
          tag: 'script',
          attrs: { src: emitted ? `./${emitted}` : '/src/app/first-paint.js' },
          injectTo: 'head-prepend',
        },
      ],
    },
  }
}
