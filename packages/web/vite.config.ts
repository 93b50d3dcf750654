import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { firstPaintScript } from './build/first-paint-script.ts'
import { precompress } from './build/precompress.ts'

/** Where `npm run dev` finds a running server. */
const DEV_SERVER = 'http://127.0.0.1:8080'

export default defineConfig({
  // Relative references: the same files work under any base path.
  base: './',
  plugins: [react(), firstPaintScript(), precompress()],
  build: {
    sourcemap: false,
    // Every asset is a file: the content security policy then needs no exceptions for inlined ones.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The budget is on what travels: 300 kB compressed for the first page. This warning counts the rest too.
    chunkSizeWarningLimit: 1_000,
  },
  server: { proxy: { '/api': DEV_SERVER, '/health': DEV_SERVER, '/audit': DEV_SERVER } },
})
