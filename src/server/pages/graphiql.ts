import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BuiltPage } from './graphiql-page.ts'
import { contentSecurityPolicy } from './page-response.ts'
import { buildInThread, memoizeBuild, sendPrecompressed } from './precompressed.ts'

/** A tab of GraphiQL: an operation that can be run as it is. */
export type GraphiqlTab = { readonly query: string; readonly variables?: string; readonly headers?: string }

/** GraphiQL, made when it is first asked for. */
export type LoadGraphiqlPage = () => Promise<BuiltPage>

/** Where there is no demo there is no key to begin with. */
const welcomeTab: GraphiqlTab = {
  query: `# Welcome to payout-gateway. Notes below.
query WhoAmI {
  merchant {
    id
    name
  }
}

# Every request needs the API key of a merchant. Put yours
# in the place of "your key" under "Headers", below;
#   npm run -s cli -- merchant create <name>
# makes one. Then press the circling arrows at the lower
# left, which read the schema anew: from then on the editor
# completes what you type (Ctrl-Space), and the book at the
# upper left explains every type and field.
`,
  headers: '{\n  "x-api-key": "your key"\n}',
}

/**
 * GraphiQL as one page that loads nothing from anywhere else.
 *
 * @param tabs what it opens with, in a browser that has not been here before
 */
export function graphiqlPage(tabs: () => Promise<readonly GraphiqlTab[]>): LoadGraphiqlPage {
  return memoizeBuild(async () => {
    const given = await tabs()
    return buildInThread<BuiltPage>(
      new URL('./graphiql-page.ts', import.meta.url),
      given.length > 0 ? given : [welcomeTab],
    )
  })
}

/** Sends the page, compressed as the browser takes it, or the word that the browser has it already. */
export async function sendGraphiql(
  page: LoadGraphiqlPage,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { precompressed, scriptHash } = await page()
  // Browsers revalidate each time, nearly always with 304, so an update of the service shows immediately.
  reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept, accept-encoding, origin')
    .header('content-security-policy', graphiqlPolicy(scriptHash))
  return sendPrecompressed(precompressed, request, reply)
}

/**
 * What the page may do: run its own script and the workers that this one makes, and ask this service.
 *
 * The editor places each of its lines by a style attribute and adds sheets as it goes, so styles can't be told by hash.
 */
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
