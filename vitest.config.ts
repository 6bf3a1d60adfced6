import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Some tests start processes of their own, and machines that run them may be slow: a limit is for what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
