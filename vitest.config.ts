import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { processTests } from './test/process-tests.ts'

/** Tests of the planner, and comparisons of both executors: `GRAPHQL_EXECUTOR` does not affect them. */
const plannerTests = [
  'matrix-fields',
  'most-expensive-document',
  'plan-cache',
  'plan-reads',
  'plan-values',
  'planned-documents',
  'plans',
].map((name) => `test/graphql/${name}.test.ts`)
const isReference = process.env.GRAPHQL_EXECUTOR === 'reference'
if (isReference) process.stdout.write(`GRAPHQL_EXECUTOR=reference skips ${plannerTests.join(', ')}\n`)

export default defineConfig({
  // Without this Vite takes the CommonJS twin of graphql where Node takes the ES module: two copies, and no error of one is
  // an instance of the other's class.
  ssr: { resolve: { conditions: ['module-sync', 'node'] } },
  test: {
    exclude: [...configDefaults.exclude, ...(isReference ? plannerTests : [])],
    projects: [
      { extends: true, test: { name: 'in-process', include: ['test/**/*.test.ts'], exclude: [...processTests] } },
      { extends: true, test: { name: 'processes', include: [...processTests] } },
    ],
    // Prints failures in full and the counts, and on a terminal a dot for each test. The default names each of hundreds of slow tests.
    reporters: [process.stdout.isTTY ? 'dot' : 'minimal'],
    globalSetup: 'test/support/global-setup.ts',
    // The default leaves one core free, which is half of a machine with two. One worker more than cores uses the time in which others
    // wait, for example for a timeout: 315 instead of 380 seconds on two cores.
    maxWorkers: availableParallelism() + 1,
    // Files that run in one process share its modules, which are loaded once. The state of a module is per database or constant, so
    // tests do not affect each other.
    isolate: false,
    // `npm start` sets this option too. Without it, tests take about a tenth more processor time.
    execArgv: ['--no-allocation-site-pretenuring'],
    // The limit is for tests that hang: many start processes, and the machine may be busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { interval: 10, timeout: 60_000 } },
  },
})
