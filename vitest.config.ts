import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

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
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(isReference ? plannerTests : [])],
    // What failed, in full, and the counts; whoever looks on sees a dot for each test besides. The default names each of hundreds
    // of tests that take a while.
    reporters: [process.stdout.isTTY ? 'dot' : 'minimal'],
    globalSetup: 'test/support/global-setup.ts',
    // The default leaves one for whoever works at the machine, which on two cores is half of it. One more than there are works while
    // others wait for what takes its time, such as a server that is to be given up: 315 seconds in the place of 380 on two.
    maxWorkers: availableParallelism() + 1,
    // Files that run in one process share its modules, which are loaded once: what we keep in a module is kept by database or
    // never changes, so no test meets what another has left there.
    isolate: false,
    // A limit is for what hangs: many tests start processes, and the machine may be busy with others.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
