import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createConsole } from '../../../src/console/console-host.ts'
import { createAuditRun } from '../../../src/console/console-page.ts'
import type { OperatorAccessOptions } from '../../../src/console/operator-access.ts'
import { createOperatorAccess } from '../../../src/console/operator-access.ts'
import { createOperator } from '../../../src/modules/operators/manage-operators.ts'
import type { App } from '../../support/app.ts'
import { createConsoleClient } from './open-console.ts'

export const publicUrl = 'https://console.example.com'

/** Headers of a proxy that terminates TLS, for a caller at `address`. */
export const proxied = (address = '203.0.113.7') => ({
  host: 'console.example.com',
  'x-forwarded-proto': 'https',
  'x-forwarded-for': address,
})

/** The console of named operators behind a proxy with TLS, on a port of its own. */
export async function openOperatorConsole(
  app: App,
  { url = publicUrl, trustedProxies = ['127.0.0.1'], operators = [] }: Partial<OperatorAccessOptions> = {},
) {
  const faults: unknown[] = []
  const log: object[] = []
  const write = (fields: object, message: string) => void log.push({ ...fields, message })
  const logger = { info: write, warn: write }
  const access = createOperatorAccess({
    service: app.service,
    url,
    operators,
    trustedProxies,
    logger,
    elapsed: app.service.now,
  })
  const host = createConsole(
    { service: app.service, rails: [], auditRun: createAuditRun() },
    { access, onError: (error) => faults.push(error) },
  )
  await host.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => host.close())
  const { port } = host.server.address() as AddressInfo

  /** A browser without a session. */
  function browser(headers: Readonly<Record<string, string>> = proxied()) {
    const client = createConsoleClient(app, { port, origin: url, basePath: '', headers })
    return {
      ...client,
      signIn: async (name: string, password: string) =>
        client.keepCookie(await client.post('/sign-in', { name, password })),
      useLink: async (token: string, password = '') =>
        client.keepCookie(await client.post('/link', { token, password })),
    }
  }

  return {
    port,
    faults,
    log,
    browser,
    /** Creates an operator, and returns a browser where the operator has signed in by link. */
    async operator(name: string, role: 'look' | 'act' = 'act', password = '') {
      const { token } = await createOperator(app.service, { name, role })
      const client = browser()
      await client.useLink(token, password)
      return client
    },
  }
}
