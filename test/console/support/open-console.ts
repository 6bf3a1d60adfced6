import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { createConsole } from '../../../src/console/console-host.ts'
import { createAuditRun } from '../../../src/console/console-page.ts'
import { createLocalAccess } from '../../../src/console/local-access.ts'
import { createLoginSession } from '../../../src/console/login-session.ts'
import { listOperatorActions } from '../../../src/modules/operators/list-operator-actions.ts'
import type { App } from '../../support/app.ts'

type Headers = Readonly<Record<string, string>>
type Fields = Readonly<Record<string, string>>

export type ConsoleResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

type ClientOptions = {
  readonly port: number
  /** The scheme, host and port that the pages believe to have. */
  readonly origin: string
  readonly basePath: string
  /** Headers of a proxy in front. */
  readonly headers?: Headers
}

/** What a browser would keep of one console: the cookie of its session, and the forms of its pages. */
export function createConsoleClient(app: App, { port, origin, basePath, headers: own = {} }: ClientOptions) {
  let cookie = ''

  /** Sends one request without adding a session; a list of headers alternates names and values. */
  function ask(
    method: string,
    path: string,
    headers: Headers | readonly string[] = {},
    body = '',
  ): Promise<ConsoleResponse> {
    return new Promise((resolve, reject) => {
      const asking = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      })
      asking.on('error', reject).end(body)
    })
  }

  /** Keeps the cookie of a response, as a browser does. */
  function keepCookie(response: ConsoleResponse): ConsoleResponse {
    const set = response.headers['set-cookie']
    if (set !== undefined) cookie = String(set).split(';', 1)[0] ?? ''
    return response
  }

  const sent = (): Headers => ({ ...own, cookie, 'sec-fetch-site': 'same-origin' })
  const get = (path: string, headers: Headers = {}) => ask('GET', `${basePath}${path}`, { ...sent(), ...headers })

  return {
    origin,
    ask,
    get,
    keepCookie,
    session: () => cookie,
    /** Sends fields to a page, as a form of it does. */
    post: (path: string, fields: Fields, headers: Headers = {}) => {
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      const body = new URLSearchParams(fields).toString()
      return ask('POST', `${basePath}${path}`, { ...sent(), ...type, origin, ...headers }, body)
    },
    /** The hidden fields of a form as its page has it, or as the page has it to which a button of that page leads. */
    async form(path: string, action: string, target = ''): Promise<Fields> {
      const formsOf = async (from: string) => (await get(from)).text.split('<form').map(hiddenFields)
      const forms = await formsOf(path)
      const hasButton = forms.some((fields) => fields.confirm === action && fields.target === target)
      const confirmation = `${path}?${new URLSearchParams({ confirm: action, target })}`
      const match = (hasButton ? await formsOf(confirmation) : forms).find(
        (fields) => fields._action === action && fields._target === target,
      )
      if (!match) throw new Error(`${path} has no form for ${action} ${target}`)
      return match
    },
    /** Fills in a form of a page and sends it. */
    async act(path: string, action: string, fields: Fields = {}, target = ''): Promise<ConsoleResponse> {
      return this.post(path, { ...(await this.form(path, action, target)), reason: 'somebody rang', ...fields })
    },
    /** Returns the operator log, oldest first. */
    async kept() {
      const { items } = await listOperatorActions(app.service, { limit: 100 })
      return items.map(({ action, subject, reason, details }) => ({ action, subject, reason, details })).reverse()
    },
  }
}

/** The console of an app on a port of its own, for the browser of this machine. */
export async function openConsole(app: App) {
  const faults: unknown[] = []
  const entrance = createLoginSession(app.service.now)
  const host = createConsole(
    { service: app.service, rails: [], auditRun: createAuditRun() },
    {
      access: createLocalAccess(entrance, { operator: 'ada', session: 'console test' }),
      onError: (error) => faults.push(error),
    },
  )
  await host.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => host.close())
  const { port } = host.server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const client = createConsoleClient(app, { port, origin, basePath: entrance.basePath })
  const link = `/?token=${entrance.linkToken}`
  return {
    ...client,
    entrance,
    faults,
    link,
    /** Opens the link, and returns the response. */
    enter: async () => client.keepCookie(await client.ask('GET', link)),
  }
}

export type OpenConsole = Awaited<ReturnType<typeof openConsole>>

function hiddenFields(form: string): Fields {
  const inputs = form.split('</form>', 1)[0]?.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g) ?? []
  return Object.fromEntries([...inputs].map(([, name, value]) => [String(name), textOf(String(value))]))
}

/** Text as it was before it was put into HTML. */
export function textOf(html: string): string {
  return html.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

/** Any script but the console's own file. */
export const foreignScript = /<script(?! src="[\w/-]*\/console\.js" defer><\/script>)/

/** Asserts that a response forbids caching, framing, and all scripts but the file that pages of a session load. */
export function expectSecurityHeaders({ headers, text }: ConsoleResponse): void {
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
  })
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy.match(/script-src[^;]*/g) ?? []).toEqual(policy.includes('script-src') ? ["script-src 'self'"] : [])
  expect(policy).not.toContain('unsafe')
  expect(text).not.toMatch(foreignScript)
}
