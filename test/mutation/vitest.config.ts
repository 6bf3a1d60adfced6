import type { VitestPluginContext } from 'vitest/node'
import config from '../../vitest.config.ts'
import { createPersistentWorker } from './persistent-worker.ts'

export default {
  ...config,
  plugins: [
    {
      name: 'persistent-worker',
      // Stryker overrides `pool` of this configuration.
      configureVitest({ project }: VitestPluginContext) {
        project.config.pool = 'persistent'
        project.config.poolRunner = { name: 'persistent', createPoolWorker: createPersistentWorker }
      },
    },
  ],
  test: {
    ...config.test,
    projects: undefined,
    include: process.env.MUTATION_TESTS?.split(' ') ?? [],
    globalSetup: 'test/mutation/global-setup.ts',
    setupFiles: ['test/mutation/fresh-modules.ts'],
    maxWorkers: 1,
    // Threads accept no V8 options.
    execArgv: [],
    // A mutant may make a test wait without end.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
}
