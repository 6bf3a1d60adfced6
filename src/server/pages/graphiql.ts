import type { FastifyReply, FastifyRequest } from 'fastify'
import { cliCommand } from '../../core/package.ts'
import type { BuiltPage } from './graphiql-page.ts'
import { contentSecurityPolicy } from './page-response.ts'
import { buildInThread, memoizeBuild, sendPrecompressed } from './precompressed.ts'

export type GraphiqlTab = { readonly query: string; readonly variables?: string; readonly headers?: string }

export type LoadGraphiqlPage = () => Promise<BuiltPage>

const welcomeTab: GraphiqlTab = {
  query: `# Welcome to payout-gateway. Notes below.
query WhoAmI {
  merchant {
    id
    name
  }
}

# Every request needs the API key of a merchant. Replace
# "your key" under "Headers", below, with yours;
#   ${cliCommand} merchant create <name>
# creates one. Then press the circling arrows at the lower
# left to reload the schema: from then on the editor
# completes what you type (Ctrl-Space), and the book at the
# upper left explains every type and field.
`,
  headers: '{\n  "x-api-key": "your key"\n}',
}

/** Builds the GraphiQL page at the first request. `tabs` are shown if the browser has stored no GraphiQL tabs. */
export function graphiqlPage(tabs: () => Promise<readonly GraphiqlTab[]>): LoadGraphiqlPage {
  return memoizeBuild(async () => {
    const initialTabs = await tabs()
    return buildInThread<BuiltPage>(
      new URL('./graphiql-page.ts', import.meta.url),
      initialTabs.length > 0 ? initialTabs : [welcomeTab],
    )
  })
}

export async function sendGraphiql(
  page: LoadGraphiqlPage,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { precompressed, scriptHash } = await page()
  reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept, accept-encoding, origin')
    .header('content-security-policy', graphiqlPolicy(scriptHash))
  return sendPrecompressed(precompressed, request, reply)
}

function graphiqlPolicy(scriptHash: string): string {
  return contentSecurityPolicy([
    `script-src '${scriptHash}'`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    'font-src data:',
    "connect-src 'self'",
  ])
}
