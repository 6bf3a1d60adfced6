import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/app/config.ts'
import { instrumentTracing } from '../../../src/app/telemetry.ts'
import { noInstrumentation } from '../../../src/observability/metrics/instrumentation.ts'

const root = resolve(import.meta.dirname, '../../..')

/** Returns the OpenTelemetry packages that are loaded after every role of the service is loaded and started. */
function loaded(environment: Record<string, string>): string[] {
  const script = `
    import { registerHooks } from 'node:module'
    const found = new Set()
    registerHooks({ load: (url, context, next) => {
      const [, name] = /node_modules\\/(@opentelemetry\\/[^/]+)/.exec(url) ?? []
      if (name) found.add(name)
      return next(url, context)
    } })
    for (const role of ['serve', 'workers/supervisor', 'workers/writer', 'workers/webhook-process']) await import(\`./src/app/\${role}.ts\`)
    const { readConfig } = await import('./src/app/config.ts')
    const { instrumentTracing } = await import('./src/app/telemetry.ts')
    const { noInstrumentation } = await import('./src/observability/metrics/instrumentation.ts')
    await instrumentTracing(noInstrumentation, { config: readConfig() }, 'service')
    console.log(JSON.stringify([...found]))`
  const args = ['--input-type=module', '--eval', script]
  const env = { PATH: process.env.PATH, ...environment }
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', env }))
}

test('without a collector the service records no spans and loads no OpenTelemetry package', async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  const started = { config: readConfig({ OTEL_TRACES_SAMPLER: 'always_on' }) } as never
  expect(await instrumentTracing(noInstrumentation, started, 'service')).toBe(noInstrumentation)
  expect(noInstrumentation.requestSpans).toBeUndefined()
  const [anything] = [() => {}] as never[]
  expect(noInstrumentation.wrapSender(anything as never)).toBe(anything)

  expect(loaded({})).toEqual([])
  expect(loaded({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual([])
  expect(loaded(endpoint)).toContain('@opentelemetry/sdk-trace')
})
