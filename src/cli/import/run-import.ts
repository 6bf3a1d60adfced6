import { assetCodesWithNetworks } from '../../modules/asset-codes/list-asset-codes.ts'
import { beginImport, findKnownObjects } from '../../modules/imports/begin-import.ts'
import { compareBalances, findWalletTotals } from '../../modules/imports/compare-balances.ts'
import { importCustomers } from '../../modules/imports/import-customers.ts'
import type { ImportOptions, ImportOutcome } from '../../modules/imports/import-outcome.ts'
import { importPayoutMethods } from '../../modules/imports/import-payout-methods.ts'
import { findUnknownWalletIds, importWallets } from '../../modules/imports/import-wallets.ts'
import type { SourceObject, SourceWallet } from '../../modules/imports/source-object.ts'
import { parseSourceCustomer, parseSourcePayoutMethod, parseSourceWallet } from '../../modules/imports/source-object.ts'
import type { Context } from '../../operations/context.ts'
import type { ContractClient, RateLimit } from '../contract/contract-client.ts'
import type { ImportReport, ObjectKind, Tally } from './import-report.ts'
import { createTally } from './import-report.ts'
import type { KnownObjects, ListBatch } from './source-lists.ts'
import {
  hasEndpoint,
  limitRequests,
  mapConcurrently,
  openList,
  readList,
  readObject,
  readWholeList,
} from './source-lists.ts'

export type ImportRequest = ImportOptions & {
  /** The ids of wallets that the source's lists omit, for example the merchant's own wallets. */
  readonly walletIds: readonly string[]
  readonly rateLimit?: () => RateLimit | null
  readonly onProgress?: (label: string, done: number, total: number) => void
}

type Import = {
  readonly context: Context
  readonly client: ContractClient
  readonly options: ImportOptions
  readonly walletIds: readonly string[]
  readonly tally: Tally
  readonly onProgress: (label: string, done: number, total: number) => void
}

/**
 * Imports a merchant from a server that implements the API contract. Reads customers, payout methods and wallets first,
 * and reads all balances again at the end.
 *
 * Each object is imported completely or not at all, and existing objects are skipped. After a crash, another import can
 * therefore continue.
 *
 * @throws DomainError INVALID_INPUT if the merchant has paid out; Error if the source can't be read
 */
export async function runImport(
  context: Context,
  source: ContractClient,
  { walletIds, isDryRun, rateLimit = () => null, onProgress = () => {} }: ImportRequest,
): Promise<ImportReport> {
  const startedAt = performance.now()
  let requests = 0
  const client = limitRequests((request) => {
    requests++
    return source(request)
  })
  const options = { isDryRun }
  await beginImport(context, options)
  const tally = createTally()
  const run: Import = { context, client, options, walletIds, tally, onProgress }

  const unsupportedAssets = await findUnsupportedAssets(run)
  // An import reads new objects first, and compares the objects of an interrupted earlier import last.
  const importKnown = [
    await importList(run, 'customers', '/api/customers', parseSourceCustomer, importCustomers),
    await importList(run, 'payout methods', '/api/payout/methods', parseSourcePayoutMethod, importPayoutMethods),
  ]
  const knownWallets = await findKnownObjects(context, 'wallets')
  const requestsBefore = requests
  let withoutAddresses = 0
  for await (const { parsed, label, done, total } of readWallets(run, 'wallets', knownWallets)) {
    tally.add('wallets', problemsOf(parsed))
    const rows = rowsOf(parsed)
    const complete = isDryRun ? rows : await withAddresses(run, rows)
    if (isDryRun) withoutAddresses += (await newRowsWithoutAddresses(context, rows)).size
    tally.add('wallets', await importWallets(context, complete, options))
    onProgress(label, done, total)
  }
  const walletRequests = requests - requestsBefore
  for (const importList of importKnown) await importList()

  if (!isDryRun) {
    for await (const { parsed, label, done, total } of readWallets(run, 'balances', nothingKnown)) {
      const rows = rowsOf(parsed)
      tally.addBalances(rows, await compareBalances(context, rows))
      onProgress(label, done, total)
    }
  }
  const seconds = (performance.now() - startedAt) / 1_000
  const needed = requests + withoutAddresses + walletRequests
  return {
    isDryRun,
    ...tally.report(isDryRun ? null : await findWalletTotals(context)),
    unsupportedAssets,
    requests,
    seconds: roundSeconds(seconds),
    estimatedSeconds: isDryRun ? roundSeconds(estimateSeconds(needed, { requests, seconds }, rateLimit())) : null,
  }
}

function roundSeconds(seconds: number): number {
  return Math.round(seconds * 10) / 10
}

/** Estimates the duration from the speed of the dry run, or from the source's rate limit if the limit is slower. */
function estimateSeconds(
  needed: number,
  { requests, seconds }: { readonly requests: number; readonly seconds: number },
  rateLimit: RateLimit | null,
): number {
  const atMeasuredSpeed = (needed * seconds) / requests
  return rateLimit ? Math.max(atMeasuredSpeed, (needed * rateLimit.windowSeconds) / rateLimit.limit) : atMeasuredSpeed
}

async function findUnsupportedAssets({ context, client }: Import): Promise<string[]> {
  const rows = await readWholeList(client, '/api/asset-codes')
  const supported = (await assetCodesWithNetworks(context.db)).map(({ code }) => code)
  const codes = rows.map((row) => (Object(row) as { code?: unknown }).code)
  return codes.filter((code) => typeof code === 'string').filter((code) => !supported.includes(code))
}

/** Returns a function that compares the source with the objects of earlier imports. */
async function importList<Row>(
  { context, client, options, tally, onProgress }: Import,
  object: ObjectKind,
  path: string,
  parse: (value: unknown) => SourceObject<Row>,
  importRows: (context: Context, rows: readonly Row[], options: ImportOptions) => Promise<ImportOutcome[]>,
): Promise<() => Promise<void>> {
  const list = await openList(client, path, await findKnownObjects(context, object))
  const importBatches = async (batches: AsyncGenerator<ListBatch>, label: string) => {
    for await (const { rows, done, total } of batches) {
      const parsed = rows.map(parse)
      tally.add(object, problemsOf(parsed))
      tally.add(object, await importRows(context, rowsOf(parsed), options))
      onProgress(label, done, total)
    }
  }
  await importBatches(list.readNew(), object)
  return () => importBatches(list.readKnown(), `imported ${object}`)
}

function rowsOf<Row>(parsed: readonly SourceObject<Row>[]): Row[] {
  return parsed.flatMap((each) => ('row' in each ? [each.row] : []))
}

function problemsOf<Row>(parsed: readonly SourceObject<Row>[]): ImportOutcome[] {
  return parsed.flatMap((each) => ('row' in each ? [] : [{ ...each, outcome: 'problem' as const }]))
}

type WalletBatch = {
  readonly parsed: readonly SourceObject<SourceWallet>[]
  readonly label: string
  readonly done: number
  readonly total: number
}

const walletsPath = '/api/wallets'

const nothingKnown: KnownObjects = { count: 0, lastId: null }

const minBatchRows = 400

/**
 * The API contract only has an endpoint for the wallets of one customer. Some servers also have `GET /api/wallets` for
 * the merchant's own wallets. With the original provider, `GET /api/wallets` also returns the wallets of all customers.
 * With the original provider, the lists of customers' wallets are therefore not read.
 */
async function* readWallets(run: Import, label: string, known: KnownObjects): AsyncGenerator<WalletBatch> {
  const { client, walletIds } = run
  const listed = new Set<string>()
  let hasCustomersWallets = false
  if (await hasEndpoint(client, walletsPath)) {
    const list = await openList(client, walletsPath, known)
    for (const read of [list.readNew, list.readKnown]) {
      for await (const { rows, done, total } of read()) {
        const parsed = rows.map(parseSourceWallet)
        for (const { id, customerId } of rowsOf(parsed)) {
          hasCustomersWallets ||= customerId !== null
          if (walletIds.includes(id)) listed.add(id)
        }
        yield { parsed, label, done, total }
      }
    }
  }
  if (!hasCustomersWallets) {
    for await (const batch of readWalletsOfCustomers(run, label)) {
      for (const { id } of rowsOf(batch.parsed)) if (walletIds.includes(id)) listed.add(id)
      yield batch
    }
  }
  const others = walletIds.filter((id) => !listed.has(id))
  let done = 0
  for await (const parsed of mapConcurrently(others, (id) => readWallet(client, id))) {
    done += parsed.length
    yield { parsed, label: `${label} by id`, done, total: others.length }
  }
}

async function* readWalletsOfCustomers({ client }: Import, label: string): AsyncGenerator<WalletBatch> {
  for await (const { rows, done, total } of readList(client, '/api/customers')) {
    const ids = rowsOf(rows.map(parseSourceCustomer)).map(({ id }) => id)
    let parsed: SourceObject<SourceWallet>[] = []
    for await (const lists of mapConcurrently(ids, (id) => readWalletsOfCustomer(client, id))) {
      parsed.push(...lists.flat())
      if (parsed.length < minBatchRows) continue
      yield { parsed, label, done, total }
      parsed = []
    }
    yield { parsed, label, done, total }
  }
}

async function readWalletsOfCustomer(
  client: ContractClient,
  customerId: string,
): Promise<SourceObject<SourceWallet>[]> {
  const wallets: SourceObject<SourceWallet>[] = []
  for await (const { rows } of readList(client, `${walletsPath}/${customerId}/customer`)) {
    wallets.push(...rows.map((row) => requireOwner(parseSourceWallet(row), customerId)))
  }
  return wallets
}

function requireOwner(parsed: SourceObject<SourceWallet>, customerId: string): SourceObject<SourceWallet> {
  if (!('row' in parsed) || parsed.row.customerId === customerId) return parsed
  return { id: parsed.row.id, problem: `is in the list of customer ${customerId}, but belongs to another owner` }
}

async function readWallet(client: ContractClient, id: string): Promise<SourceObject<SourceWallet>> {
  const parsed = parseSourceWallet(await readObject(client, `${walletsPath}/${id}`))
  if (!('row' in parsed) || parsed.row.id === id) return parsed
  return { id, problem: `is answered with another wallet, ${parsed.row.id}` }
}

/**
 * A list of wallets may omit the ids of addresses. New wallets without the ids of their addresses are read one by one.
 */
async function withAddresses({ context, client, tally }: Import, rows: readonly SourceWallet[]) {
  const incomplete = await newRowsWithoutAddresses(context, rows)
  const complete: SourceWallet[] = []
  const readRow = async (row: SourceWallet) => (incomplete.has(row.id) ? readWallet(client, row.id) : { row })
  for await (const parsed of mapConcurrently(rows, readRow)) {
    tally.add('wallets', problemsOf(parsed))
    complete.push(...rowsOf(parsed))
  }
  return complete
}

async function newRowsWithoutAddresses(context: Context, rows: readonly SourceWallet[]): Promise<Set<string>> {
  const ids = rows.filter(({ addresses }) => addresses === null).map(({ id }) => id)
  return findUnknownWalletIds(context, ids)
}
