import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContractClient } from '../contract/contract-client.ts'

/** Maps paths of requests to files of saved responses. `$1` is an id, and `{page}` is the page number. */
const files: readonly (readonly [path: RegExp, file: string])[] = [
  [/^\/api\/asset-codes$/, 'asset-codes.json'],
  [/^\/api\/customers$/, 'customers/{page}.json'],
  [/^\/api\/payout\/methods$/, 'payout-methods/{page}.json'],
  [/^\/api\/wallets$/, 'wallets/{page}.json'],
  [/^\/api\/wallets\/([0-9a-f-]{36})\/customer$/, 'customer-wallets/$1/{page}.json'],
  [/^\/api\/wallets\/([0-9a-f-]{36})$/, 'wallet/$1.json'],
]

/** Each file contains the body of a response. If the file of a response is missing, the response has the status 404. */
export function createSavedResponseClient(folder: string): ContractClient {
  return async ({ path: pathAndQuery }) => {
    const { pathname, searchParams } = new URL(pathAndQuery, 'http://saved')
    const [pattern, file] = files.find(([pattern]) => pattern.test(pathname)) ?? []
    if (pattern === undefined || file === undefined) return { status: 404, body: null }
    const name = pathname.replace(pattern, file).replace('{page}', searchParams.get('page') ?? '1')
    try {
      return { status: 200, body: JSON.parse(await readFile(join(folder, name), 'utf8')) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { status: 404, body: null }
      throw new Error(`${join(folder, name)} can't be read: ${(error as Error).message}`)
    }
  }
}
