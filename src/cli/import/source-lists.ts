import { z } from 'zod'
import type { ContractClient } from '../contract/contract-client.ts'

/** How many requests to the source are in flight. */
const maxConcurrentRequests = 4

const pageSize = 100

/** A list longer than this is taken for a list without an end: ten million objects, if the source has full pages. */
const maxPages = 100_000

/** How often a list is read again because it changed meanwhile. */
const maxPasses = 3

const PageBody = z.object({
  data: z.array(z.unknown()).max(1_000),
  pagination: z.object({ total: z.int().min(0), totalPages: z.int().min(0).max(maxPages) }),
})

const ObjectBody = z.object({ data: z.looseObject({}) })

const ListBody = z.object({ data: z.array(z.unknown()).max(10_000) })

type Page = { readonly rows: readonly unknown[]; readonly total: number; readonly totalPages: number }

/** Some objects of a list, and how many of its objects were read so far. */
export type ListBatch = { readonly rows: readonly unknown[]; readonly done: number; readonly total: number }

/**
 * Reads a list of the source page by page, oldest objects first, whichever way the source sorts it.
 *
 * An object that is added or removed meanwhile moves others to another page. So a list whose total changes is read
 * again; the caller skips what it knows.
 *
 * @throws Error if the list keeps changing, or a response has another form
 */
export async function* readList(client: ContractClient, path: string): AsyncGenerator<ListBatch> {
  let first = await readPage(client, path, 1)
  for (let pass = 1; ; pass++) {
    let hasChanged = false
    let done = 0
    for await (const page of readPages(client, path, first)) {
      hasChanged ||= page.total !== first.total
      done += page.rows.length
      yield { rows: page.rows, done: Math.min(done, first.total), total: first.total }
    }
    const again = first.totalPages > 1 ? await readPage(client, path, 1) : first
    if (!hasChanged && again.total === first.total) return
    if (pass === maxPasses) {
      throw new Error(`GET ${path}: the list of the source changed during each of ${maxPasses} reads. Try again later.`)
    }
    first = again
  }
}

async function* readPages(client: ContractClient, path: string, first: Page): AsyncGenerator<Page> {
  const { totalPages } = first
  const last = totalPages > 1 ? await readPage(client, path, totalPages) : first
  const isNewestFirst = createdAtOf(first.rows[0]) > createdAtOf(last.rows.at(-1))
  const inOrder = (page: Page): Page => (isNewestFirst ? { ...page, rows: page.rows.toReversed() } : page)
  const [start, end] = isNewestFirst ? [last, first] : [first, last]
  yield inOrder(start)
  if (totalPages <= 1) return
  const numbers = Array.from({ length: totalPages - 2 }, (_, i) => (isNewestFirst ? totalPages - 1 - i : i + 2))
  for await (const page of mapConcurrently(numbers, (number) => readPage(client, path, number))) yield inOrder(page)
  yield inOrder(end)
}

async function readPage(client: ContractClient, path: string, number: number): Promise<Page> {
  const request = `${path}?limit=${pageSize}&page=${number}`
  const { data: rows, pagination } = parseBody(PageBody, request, await read(client, request))
  const { total, totalPages } = pagination
  if (rows.length === 0 && number <= totalPages) {
    throw new Error(`GET ${request}: the page is empty, although the source has ${totalPages} pages.`)
  }
  if (rows.length > total) throw new Error(`GET ${request}: the page has more objects than the list, ${total}.`)
  return { rows, total, totalPages }
}

/** Times that can't be read sort first; such objects are reported when they are parsed. */
function createdAtOf(row: unknown): string {
  const { created_at: createdAt } = Object(row) as { created_at?: unknown }
  return typeof createdAt === 'string' ? createdAt : ''
}

/** Reads one object of the source. */
export async function readObject(client: ContractClient, path: string): Promise<unknown> {
  return parseBody(ObjectBody, path, await read(client, path)).data
}

/** Reads a list of the source that has no pages. */
export async function readWholeList(client: ContractClient, path: string): Promise<readonly unknown[]> {
  return parseBody(ListBody, path, await read(client, path)).data
}

/** Returns whether the source has an endpoint that the contract does not require. */
export async function hasEndpoint(client: ContractClient, path: string): Promise<boolean> {
  const { status } = await client({ method: 'GET', path: `${path}?limit=1&page=1` })
  if (status === 200) return true
  if (status === 400 || status === 404 || status === 405) return false
  throw statusError(path, status)
}

async function read(client: ContractClient, path: string): Promise<unknown> {
  const { status, body } = await client({ method: 'GET', path })
  if (status === 200) return body
  throw statusError(path, status)
}

function statusError(path: string, status: number): Error {
  const advice = status === 401 || status === 403 ? ' Check the API key.' : ''
  return new Error(`GET ${path}: the source returned HTTP status ${status}.${advice}`)
}

function parseBody<Schema extends z.ZodType>(schema: Schema, path: string, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const member = issue?.path.join('.') || 'the body'
  throw new Error(`GET ${path}: the response of the source is not that of the contract: ${member}: ${issue?.message}`)
}

/** Maps items in their order, a few at a time. */
export async function* mapConcurrently<Item, Result>(
  items: Iterable<Item>,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = []
  const start = (item: Item) => {
    const result = map(item)
    // The error is reported when the result is awaited.
    result.catch(() => {})
    running.push(result)
  }
  for (const item of items) {
    start(item)
    const oldest = running.length === maxConcurrentRequests ? running.shift() : undefined
    if (oldest) yield await oldest
  }
  for (const result of running) yield await result
}
