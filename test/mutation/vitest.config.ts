import type { VitestPluginContext } from 'vitest/node'
import config from '../../vitest.config.ts'
import { createLastingWorker } from './lasting-worker.ts'

export default {
  ...config,
  plugins: [
    {
      name: 'lasting-worker',
      // Stryker names a pool itself, over what a configuration says.
      configureVitest({ project }: VitestPluginContext) {
        project.config.pool = 'lasting'
        project.config.poolRunner = { name: 'lasting', createPoolWorker: createLastingWorker }
      },
    },
  ],
  test: {
    ...config.test,
    include: process.env.MUTATION_TESTS?.split(' ') ?? [],
    globalSetup: 'test/mutation/global-setup.ts',
    setupFiles: ['test/mutation/fresh-modules.ts'],
    maxWorkers: 1,
    // A fault may make a test wait for what never comes.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
  },
}
