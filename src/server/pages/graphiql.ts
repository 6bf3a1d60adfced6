import { Worker } from 'node:worker_threads'
import { createGunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { MadePage } from './graphiql-page.ts'
import { policyOf } from './page-answer.ts'

/** A tab of GraphiQL: an operation that can be run as it is. */
export type Tab = { readonly query: string; readonly variables?: string; readonly headers?: string }

/** GraphiQL, made when it is first asked for. */
export type GraphiqlPage = () => Promise<MadePage>

/** Where there is no demo there is no key to begin with. */
const welcome: Tab = {
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
export function graphiqlPage(tabs: () => Promise<readonly Tab[]>): GraphiqlPage {
  let made: Promise<MadePage> | undefined
  return () => {
    // A failure is not kept: the next request tries again.
    made ??= tabs()
      .then((given) => madeInThread(given.length > 0 ? given : [welcome]))
      .catch((error) => {
        made = undefined
        throw error
      })
    return made
  }
}

/** Sends the page, compressed as the browser takes it, or the word that the browser has it already. */
export async function sendGraphiql(
  page: GraphiqlPage,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { encoded, etag, scriptHash } = await page()
  // Always asked for anew, and nearly always answered with 304: an update of the service shows at once. The tag is weak,
  // because the encodings share it.
  reply
    .header('etag', `W/"${etag}"`)
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept, accept-encoding, origin')
    .header('content-security-policy', policy(scriptHash))
  if (headers['if-none-match']?.includes(`"${etag}"`)) return reply.code(304).send()
  reply.type('text/html; charset=utf-8')
  const encoding = (['br', 'gzip'] as const).find((each) => isAccepted(each, headers['accept-encoding']))
  // Who takes no encoding is no browser and seldom here, so for them nine megabytes are not kept.
  if (!encoding) return reply.send(createGunzip().end(encoded.gzip))
  return reply.header('content-encoding', encoding).send(encoded[encoding])
}

/**
 * What the page may do: run its own script and the workers that this one makes, and ask this service.
 *
 * The editor places each of its lines by a style attribute and adds sheets as it goes, so styles can't be told by hash.
 */
function policy(scriptHash: string): string {
  return policyOf([
    `script-src '${scriptHash}'`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    'font-src data:',
    "connect-src 'self'",
  ])
}

function isAccepted(encoding: string, header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .some((each) => each.split(';')[0]?.trim() === encoding && !/;\s*q=0(\.0*)?$/.test(each))
}

function madeInThread(tabs: readonly Tab[]): Promise<MadePage> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./graphiql-page.ts', import.meta.url), { workerData: tabs })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the thread ended without a page')))
    // A service that ends does not wait for it.
    thread.unref()
  })
}
