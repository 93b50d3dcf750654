import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts', 'e2e/**/*.test.ts'],
    // Each test file is its own process: a leaked handle or a changed environment harms no other.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
