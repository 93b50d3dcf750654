import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts', 'e2e/**/*.test.ts'],
    // Each test file is its own process: a leaked handle or a changed environment harms no other.
    pool: 'forks',
    testTimeout: 30_000,
    // How long a condition may take on a busy machine; a test that passes does not wait for it.
    expect: { poll: { timeout: 15_000, interval: 20 } },
    hookTimeout: 60_000,
  },
})
