import { z } from 'zod'
import type { ContractClient } from '../contract/contract-client.ts'

const maxConcurrentRequests = 4

const batchSize = 4

const pageSize = 100

/** A list with more pages than `maxPages` is treated as endless. */
const maxPages = 100_000

const maxPasses = 3

const PageBody = z.object({
  data: z.array(z.unknown()).max(1_000),
  pagination: z.object({ total: z.int().min(0), totalPages: z.int().min(0).max(maxPages) }),
})

const ObjectBody = z.object({ data: z.looseObject({}) })

const ListBody = z.object({ data: z.array(z.unknown()).max(10_000) })

type Page = { readonly rows: readonly unknown[]; readonly total: number; readonly totalPages: number }

export type ListBatch = { readonly rows: readonly unknown[]; readonly done: number; readonly total: number }

/** `count` is the number of objects of earlier imports, and `lastId` is the id of the last object. */
export type KnownObjects = { readonly count: number; readonly lastId: string | null }

/**
 * `readKnown` reads the pages that an earlier import has read. `readNew` reads the pages that no earlier import has
 * read.
 */
type OpenList = {
  readonly readNew: () => AsyncGenerator<ListBatch>
  readonly readKnown: () => AsyncGenerator<ListBatch>
}

/** `numbers` are page numbers in the order of creation times, oldest first. */
type ListEnds = {
  readonly first: Page
  readonly last: Page
  readonly isNewestFirst: boolean
  readonly numbers: readonly number[]
}

/**
 * Reads a list of the source page by page, oldest objects first.
 *
 * If an object is added or removed during the read, objects move to other pages. Therefore the list is read again if
 * the total number of objects changes. The caller skips objects that it has already imported.
 *
 * @throws Error if the list keeps changing, or if a response has an unexpected structure
 */
export async function* readList(client: ContractClient, path: string): AsyncGenerator<ListBatch> {
  yield* readPages(client, path, await readEnds(client, path), (numbers) => numbers)
}

/**
 * Separates the pages that an earlier import has read from the new pages of a list.
 *
 * @throws Error like `readList`
 */
export async function openList(client: ContractClient, path: string, known: KnownObjects): Promise<OpenList> {
  const ends = await readEnds(client, path)
  const knownPages = await countKnownPages(client, path, ends, known)
  return {
    readNew: () => readPages(client, path, ends, (numbers) => numbers.slice(knownPages)),
    readKnown: () => readPages(client, path, ends, (numbers) => numbers.slice(0, knownPages)),
  }
}

/** Returns 0 if the last imported object is not at its expected position, because the list has changed. */
async function countKnownPages(
  client: ContractClient,
  path: string,
  { first, isNewestFirst, numbers }: ListEnds,
  { count, lastId }: KnownObjects,
): Promise<number> {
  if (count === 0 || count > first.total || numbers.length <= 1) return 0
  const position = isNewestFirst ? first.total - count : count - 1
  const number = Math.floor(position / first.rows.length) + 1
  const { rows } = await readPage(client, path, number)
  const { id } = Object(rows[position % first.rows.length]) as { id?: unknown }
  return id === lastId ? numbers.indexOf(number) : 0
}

async function* readPages(
  client: ContractClient,
  path: string,
  ends: ListEnds,
  choose: (numbers: readonly number[]) => readonly number[],
  pass = 1,
): AsyncGenerator<ListBatch> {
  const { first, last, isNewestFirst, numbers } = ends
  const { total } = first
  const chosen = choose(numbers)
  if (chosen.length === 0) return
  const read = (number: number) =>
    number === 1 ? first : number === numbers.length ? last : readPage(client, path, number)
  let hasChanged = false
  let done = numbers.indexOf(chosen[0] ?? 0) * first.rows.length
  for await (const pages of mapConcurrently(chosen, read)) {
    const rows = pages.flatMap((page) => (isNewestFirst ? page.rows.toReversed() : page.rows))
    hasChanged ||= pages.some((page) => page.total !== total)
    done += rows.length
    yield { rows, done: Math.min(done, total), total }
  }
  const again = numbers.length > 1 ? await readPage(client, path, 1) : first
  if (!hasChanged && again.total === total) return
  if (pass === maxPasses) {
    throw new Error(`GET ${path}: the list of the source changed during each of ${maxPasses} reads. Try again later.`)
  }
  yield* readPages(client, path, await readEnds(client, path, again), (numbers) => numbers, pass + 1)
}

async function readEnds(client: ContractClient, path: string, firstPage?: Page): Promise<ListEnds> {
  const first = firstPage ?? (await readPage(client, path, 1))
  const { totalPages } = first
  const last = totalPages > 1 ? await readPage(client, path, totalPages) : first
  const isNewestFirst = createdAtOf(first.rows[0]) > createdAtOf(last.rows.at(-1))
  const numbers = Array.from({ length: Math.max(1, totalPages) }, (_, i) => i + 1)
  return { first, last, isNewestFirst, numbers: isNewestFirst ? numbers.toReversed() : numbers }
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

/** An object with an unreadable time sorts first. The parser of the object reports the unreadable time. */
function createdAtOf(row: unknown): string {
  const { created_at: createdAt } = Object(row) as { created_at?: unknown }
  return typeof createdAt === 'string' ? createdAt : ''
}

export async function readObject(client: ContractClient, path: string): Promise<unknown> {
  return parseBody(ObjectBody, path, await read(client, path)).data
}

export async function readWholeList(client: ContractClient, path: string): Promise<readonly unknown[]> {
  return parseBody(ListBody, path, await read(client, path)).data
}

/** A server may lack the endpoint, because the API contract does not require the endpoint. */
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

export function limitRequests(client: ContractClient): ContractClient {
  let inFlight = 0
  const waiting: (() => void)[] = []
  return async (request) => {
    if (inFlight < maxConcurrentRequests) inFlight++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await client(request)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else inFlight--
    }
  }
}

/**
 * Maps the items in order, in batches. While the caller uses a batch, the next two batches are already being mapped.
 */
export async function* mapConcurrently<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result | Promise<Result>,
): AsyncGenerator<Result[]> {
  const started: Promise<Result[]>[] = []
  const start = (batch: number) => {
    const first = batch * batchSize
    const results = Promise.all(items.slice(first, first + batchSize).map(map))
    // A failed batch throws its error when the caller reads the batch.
    results.catch(() => {})
    started.push(results)
  }
  const batches = Math.ceil(items.length / batchSize)
  for (let batch = 0; batch < batches + 2; batch++) {
    if (batch < batches) start(batch)
    const oldest = batch < 2 ? undefined : started.shift()
    if (oldest) yield await oldest
  }
}
