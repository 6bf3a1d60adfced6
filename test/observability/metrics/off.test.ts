import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/app/config.ts'
import { setUpMetrics, setUpWorkerMetrics } from '../../../src/app/telemetry.ts'
import { noInstrumentation } from '../../../src/observability/metrics/instrumentation.ts'

const root = resolve(import.meta.dirname, '../../..')

/** Returns whether the Prometheus client is loaded after every role of the service is loaded and `then` has run. */
function isClientLoaded(then = ''): boolean {
  const script = `
    import { createRequire } from 'node:module'
    for (const role of ['serve', 'workers/supervisor', 'workers/writer', 'workers/webhook-process']) await import(\`./src/app/\${role}.ts\`)
    const { readConfig } = await import('./src/app/config.ts')
    const { setUpMetrics } = await import('./src/app/telemetry.ts')
    ${then}
    const loaded = Object.keys(createRequire(process.cwd() + '/package.json').cache)
    console.log(loaded.some((path) => path.includes('/prom-client/')))`
  const args = ['--input-type=module', '--eval', script]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))
}

test('without METRICS_PORT the service measures nothing and does not load the Prometheus client', async () => {
  const config = readConfig({})
  expect((await setUpMetrics(config)).instrumentation).toBe(noInstrumentation)
  expect(await setUpWorkerMetrics(config)).toBe(noInstrumentation)
  const [anything] = [() => {}] as never[]
  const {
    wrapDatabase: database,
    wrapPerform: perform,
    wrapAccessLog: accessLog,
    wrapRail: rail,
    onCommitted,
  } = noInstrumentation
  expect([database, perform, accessLog, rail].filter((wrap) => wrap(anything as never) !== anything)).toEqual([])
  expect(onCommitted).toBeUndefined()

  expect(isClientLoaded('await setUpMetrics(readConfig({}))')).toBe(false)
  expect(isClientLoaded("await setUpMetrics(readConfig({ METRICS_PORT: '9464' }))")).toBe(true)
})
