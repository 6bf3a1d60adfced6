import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import { customerScope } from '../../../src/database/customer-scope.ts'
import type { Database } from '../../../src/database/database.ts'
import { deferredWrites } from '../../../src/database/group-commit.ts'
import { createProjection } from '../../../src/database/projection.ts'
import type { Query, Reader, Tx } from '../../../src/database/query.ts'
import { isRead } from '../../../src/database/query.ts'
import { compileForSqlite } from '../../../src/database/sqlite/compile-for-sqlite.ts'
import { columnKindsByTable } from '../../../src/database/tables.ts'
import { findPageStart, readListCount, updateListCounts } from '../../../src/lists/counted-list.ts'
import { declaredLists } from '../../../src/lists/declaration.ts'
import type { ListQueries } from '../../../src/lists/list-queries.ts'
import { latestSequenceNumber, newRowFields, takeSequenceNumber } from '../../../src/lists/sequence.ts'
import { attempt } from '../rows.ts'

/** Queries of operators and background work, which no request runs; they may scan. */
const operatorFolders = ['audit', 'demo/load', 'diagnoses', 'hash-chain', 'payout-statistics', 'webhooks/dispatcher']
const operatorQueries: Readonly<Record<string, string>> = {
  'merchants:allMerchants': 'lists the merchants',
  'merchants:merchantsWithNameLike': 'finds merchants by a part of the name',
  'outbox:latestEventSequences': 'reads the latest events of all merchants with subscribers',
  'imports:merchantsOfAddresses': 'looks for addresses that any merchant has',
  'imports:walletTotalsOfMerchant': 'adds up all balances of a merchant, once for each import',
  'installation:installationRow': 'reads its one row, at start',
  'installation:databaseCopyRow': 'reads its one row, at start',
  'merchants:merchantsWithExtendedPublicKeys': 'reads the keys of all merchants',
  'merchants:apiKeysOfMerchant': 'lists the few keys of a merchant',
  'customers:merchantOfCustomer': 'has the id only, and looks at each merchant',
  'payouts:newestPayoutsByStatus': 'counts five hundred payouts of a customer at most, for an operator',
  'payouts:merchantOfPayout': 'has the id only, and looks at each merchant',
  'operators:allOperators': 'lists the few operators of the console',
  'merchants:merchantIdsAfter': 'goes through the merchants, some at a time',
  'observability/metrics:processingPayouts':
    'counts orders in progress of some merchants; test/observability/metrics has its plan',
  'observability/metrics:oldestProcessingPayouts':
    'reads one payout of each corridor of some merchants; test/observability/metrics has its plan',
  'observability/metrics:unknownOrderCount':
    'counts among the orders to poll next; test/observability/metrics has its plan',
  'pricing:allRates': 'lists every rate that was ever set',
  'pricing:allFees': 'lists every fee that was ever set',
  'wallets:merchantOfPooledAddress': 'has the address only, and looks at each merchant',
  'wallets:merchantOfWallet': 'has the id only, and looks at each merchant',
  'rails:dueSubmissions': 'looks for what is to be submitted, over all merchants',
  'rails:duePolls': 'looks for what is to be asked, over all merchants',
  'rails:postponedRailOrders': 'looks for what a clock that was ahead has put off, over all merchants',
  'rails:unknownRailOrders': 'looks for what could not be answered, over all merchants',
  'rails:railOrderById': 'has the order only, which tells the merchant',
  'rails:attentionOfAllMerchants': 'lists what a person must look at, over all merchants',
  'rails:railOrdersOfRail': 'compares all transfers of a rail with a statement',
  'rails:newestRailOrders': 'reads some hundred orders, for an operator',
  'rails:openRailOrderCounts': 'counts what is on its way, for an operator',
  'rails:recentRailOrderCounts': 'counts the newest orders, a thousand at most, for an operator',
  'rails:shiftDeliveryDueTimes': 'moves a clock of the sandbox',
  'rails:shiftRailOrderDueTimes': 'moves a clock of the sandbox',
  'webhooks/endpoints:unhealthyEndpoints': 'lists the endpoints that fail',
  'webhooks/endpoints:recentDeliveryCounts': 'counts the newest deliveries to a few endpoints, for an operator',
  'webhooks/endpoints:allSigningKeys': 'tells public keys, every ten seconds at most',
  'webhooks/endpoints:merchantOfWebhookEndpoint': 'has the id only, and looks at each merchant',
  'deposits:watchedAddressesAfter': 'lists what a node watches, of all merchants',
  'deposits:depositsInAttention': 'lists what a person must look at, of all merchants',
  'exports:entrySums': 'adds up a thousand numbers at most',
  'exports:payoutSums': 'adds up a thousand numbers at most',
  'exports:depositSums': 'adds up a thousand numbers at most',
  'exports:feeSums': 'adds up a thousand numbers at most',
  'trusted-documents:allTrustedDocuments': 'lists the documents, for an operator',
  'trusted-documents:latestRevision': 'reads one number at the end of an index, for an operator',
  'wallets:walletsOfMerchant': 'serves the filling with data',
}

/** Queries that scan or sort a small table. */
const smallQueries: Readonly<Record<string, string>> = {
  'asset-codes:allAssetCodes': 'a table of a few codes',
  'asset-codes:allAssetNetworks': 'a table of a few networks',
  'rail-orders:cachedRailRoutes': 'a table of a few routes',
  'rail-orders:currentRailRoutes': 'a table of a few routes',
  'rail-orders:pausedRails': 'a table of a few rails',
  'payouts:eventsOfPayouts': 'a payout has two events at most',
  'transactions:reversedDepositNumbers': 'an operator reversed each deposit by a command',
  'webhooks/endpoints:countEndpoints': 'a merchant has 50 at most',
}

/** Queries that read more than a customer's rows in customer scope. */
const queriesOfCustomers: Readonly<Record<string, string>> = {
  'outbox:eventsAfter': 'reads the merchant’s; one customer’s are read by `eventsWithin`',
  'outbox:eventsOfTypes': 'reads the merchant’s; one customer’s are read by `eventsWithin`',
  'outbox:eventsWithin': 'looks through some hundred events at most',
  'exports:depositsBetween': 'looks through a thousand events at most',
  'exports:feesBetween': 'looks through a thousand events at most',
  'webhooks/endpoints:eventAtOrBefore': 'is for what only the merchant does',
  'transactions:depositNumbers': 'always has the customer’s id in customer scope',
  'transactions:depositMarks': 'always has the customer’s id in customer scope',
  'transactions:depositNumbersUpTo': 'is for the list of the merchant',
}

type Planned = Pick<Query, 'scope'> & { readonly name: string; readonly sql: string; readonly plan: readonly string[] }

const src = join(import.meta.dirname, '../../../src')
/** Folders of `src` with a repository. */
const repositories = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => basename(path) === 'repository.ts')
  .map(dirname)
  .toSorted()
const nameOfFolder = (folder: string) => folder.replace(/^modules\//, '')

let planned: Planned[] = []
/** The same queries in customer scope. */
let ofCustomer: Planned[] = []
const isOnRequests = (name: string) =>
  !operatorFolders.includes(name.split(':')[0] as string) && !(name in operatorQueries)
const onRequests = () => planned.filter(({ name }) => isOnRequests(name))

beforeAll(async () => {
  const queries = await collectQueries()
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  const path = join(folder, 'test.sqlite')
  const db = await openDatabase({ url: `sqlite:${path}`, onFatal: () => {} })
  await db.close()
  const database = new Sqlite(path, { readonly: true })
  const plan = ({ name, query }: Pick<Collected, 'name' | 'query'>): Planned => {
    const { sql, parameters } = compileForSqlite(query.node)
    const rows = database.prepare(`explain query plan ${sql}`).all(parameters.map(() => null)) as { detail: string }[]
    return { name, scope: query.scope, sql, plan: rows.map(({ detail }) => detail) }
  }
  planned = queries.map(plan)
  ofCustomer = queries
    .filter(({ name, isOfCustomers }) => isOfCustomers && isOnRequests(name))
    .flatMap(asOneCustomer)
    .map(plan)
  database.close()
  await rm(folder, { recursive: true })
})

test('the checks of query plans cover the queries of every repository', () => {
  const modules = new Set(planned.map(({ name }) => name.split(':')[0]))

  expect([...modules]).toEqual(expect.arrayContaining([...repositories.map(nameOfFolder), 'database']))
  expect(planned.length).toBeGreaterThan(60)
})

test('no request scans a table or index', () => {
  const scanning = onRequests().filter(({ plan }) =>
    plan.some(
      (step) =>
        /^SCAN (?!json_each VIRTUAL TABLE|CONSTANT ROW|\d+-ROW VALUES CLAUSE)/.test(step) && !isMadeBefore(step, plan),
    ),
  )

  expect(unexpected(scanning)).toEqual([])
})

test('a list query reads one range of an index on the columns of its filters', () => {
  const lists = planned.filter(({ name }) => /:list\.(rows|rowsOfPages|count|sequenceAfter)( of \w+)?$/.test(name))
  const wrong = lists.filter(({ sql, plan }) => {
    const [, conditions] = /where (.*?)(?: order by| limit)/.exec(sql) ?? []
    const isFiltered = /"(?!merchant_id)\w+" (?:= |is null)/.test(String(conditions))
    const step = plan.find((each) => each.startsWith('SEARCH'))
    const used = /\(merchant_id=\?((?: AND \w+=\?)*) AND \w*sequence>\? AND \w*sequence<\?\)$/.exec(String(step))?.[1]
    return used === undefined || (isFiltered && used === '')
  })

  expect(lists.length).toBeGreaterThan(500)
  expect(wrong).toEqual([])
})

test('the query for incoming transfers of a wallet uses the partial index', () => {
  const credits = planned.filter(
    ({ name, sql }) =>
      /^entries:list\.(rows|count|sequenceAfter)( of \w+)?$/.test(name) &&
      sql.includes(`"kind" not in ('deposit_reversal', 'payout')`),
  )
  const wrong = credits.filter(({ sql, plan }) => {
    const isOfPayoutsToo = sql.includes(`"kind" in ('deposit_reversal', 'payout')`)
    return !isOfPayoutsToo && !plan.some((step) => / transfers_in /.test(step))
  })

  expect(credits.length).toBeGreaterThan(10)
  expect(wrong).toEqual([])
})

test('no request sorts rows, because an index provides every sort order', () => {
  const sorting = onRequests().filter(({ plan }) => plan.some((step) => /TEMP B-TREE|AUTOMATIC/.test(step)))

  expect(unexpected(sorting)).toEqual([])
})

test('no request reads all rows of a merchant in a table', () => {
  const wide = onRequests().filter(({ plan }) => plan.some((step) => /^SEARCH .*\(merchant_id=\?\)$/.test(step)))

  expect(unexpected(wide)).toEqual([])
})

test('a query in customer scope reads only the customer’s rows or the requested rows', () => {
  const isWide = (step: string) =>
    /^SEARCH .*\(merchant_id=\?( AND \w*sequence[<>]\?)*\)$/.test(step) ||
    /^SCAN (?!json_each VIRTUAL TABLE|CONSTANT ROW|\d+-ROW VALUES CLAUSE)/.test(step) ||
    /TEMP B-TREE|AUTOMATIC/.test(step)
  const violations = ofCustomer.filter(
    ({ name, sql, plan }) =>
      !(name in queriesOfCustomers) &&
      // The planner evaluates a constant false condition before it reads a row.
      !sql.includes('where 1 = 0') &&
      plan.some((step) => isWide(step) && !isMadeBefore(step, plan)),
  )

  expect(ofCustomer.length).toBeGreaterThan(500)
  expect(unexpected(violations)).toEqual([])
})

test('every query on a merchant’s rows has a condition on merchant_id', () => {
  const nameless = onRequests().filter(({ sql }) => {
    const touched = [...sql.matchAll(/\b(?:from|join|update|delete from) "(\w+)"/g)].map(([, table]) => table)
    const isOwned = touched.some((table) => !tablesOfNoMerchant.includes(String(table)))
    return isOwned && !/\bmerchant_id"? = \+?\?/.test(sql)
  })

  expect(unexpected(nameless)).toEqual([])
})

test('every query declares its scope, and no request reads across merchants', () => {
  const silent = planned.filter(({ scope, sql }) => {
    const named = [...sql.matchAll(/\b(?:from|join|into|update) "?(\w+)"?/g)].map(([, table]) => String(table))
    const tellsMerchant = ['payout_transfers', 'given_addresses']
    const isOwned = named.some(
      (table) => columnKindsByTable[table] && ![...tablesOfNoMerchant, ...tellsMerchant].includes(table),
    )
    return isOwned && scope === 'shared'
  })

  expect(silent).toEqual([])
  expect(onRequests().filter(({ scope }) => scope === 'everyMerchant')).toEqual([])
})

test('the query that finds the merchant of an id makes one index search per merchant instead of scanning rows', () => {
  const lookups = planned.filter(({ name }) => /:merchantOf(?!WatchedAddress|ChainEvent)/.test(name))

  expect(lookups.length).toBeGreaterThan(0)
  for (const { plan } of lookups) {
    expect(plan).toEqual([
      expect.stringMatching(/^SCAN merchants USING COVERING INDEX/),
      expect.stringMatching(/^SEARCH \w+ USING COVERING INDEX .*\(merchant_id=\? AND (family=\? AND address|id)=\?\)$/),
    ])
  }
})

describe('the exception from the checks of query plans', () => {
  test.each(Object.keys({ ...operatorQueries, ...smallQueries }))('"%s" is for a query that still exists', (name) => {
    expect(planned.map((each) => each.name)).toContain(name)
  })
})

const tablesOfNoMerchant = [
  'merchant_clocks',
  'rail_routes',
  'paused_rails',
  'rail_reports',
  'merchants',
  'api_keys',
  'asset_codes',
  'asset_networks',
  'rates',
  'fees',
  'installation',
  'database_copies',
  'migrations',
  'watched_addresses',
  'chain_events',
  'trusted_documents',
  'operator_actions',
  'operators',
]

/** Returns whether a step scans a materialized result that an earlier step read by an index. */
function isMadeBefore(step: string, plan: readonly string[]): boolean {
  const name = step.replace('SCAN ', '')
  return plan.includes(`CO-ROUTINE ${name}`) || plan.includes(`MATERIALIZE ${name}`)
}

function unexpected(found: readonly Planned[]): readonly Planned[] {
  return found.filter(({ name }) => !(name in smallQueries))
}

/** A query, and whether it also runs in customer scope. */
type Collected = { readonly name: string; readonly query: Query; readonly isOfCustomers: boolean }

/** Returns every query of repositories and lists, with every set of its filters. */
async function collectQueries(): Promise<Collected[]> {
  const collected: Collected[] = []
  const collect = async (name: string, run: (recorder: Tx) => unknown, isOfCustomers = true) => {
    const seen = new Set<Query>()
    const execute: Reader['execute'] = async (query) => {
      if (!seen.has(query)) collected.push({ name, query, isOfCustomers })
      seen.add(query)
      return []
    }
    // The call may fail on an empty result; the query has been recorded by then.
    const recorder = { execute, deferred: deferredWrites() } as Pick<Tx, 'execute' | 'deferred'> as Tx
    await attempt(() => run(recorder)).catch(() => {})
  }

  for (const folder of repositories) {
    const module = nameOfFolder(folder)
    const exported: Record<string, unknown> = await import(join(src, folder, 'repository.ts'))
    if (existsSync(join(src, folder, 'list.ts'))) await import(join(src, folder, 'list.ts'))
    for (const [name, run] of Object.entries(exported)) {
      // Fragments that lists compose into queries.
      if (typeof run !== 'function' || /^(build|select|join)[A-Z]/.test(name)) continue
      for (const params of everySetOfFilters(run as (db: Reader, params: object) => Promise<unknown>)) {
        await collect(`${module}:${name}`, (recorder) => run(recorder, params))
      }
    }
  }
  for (const { name: list, queries, customerCondition } of declaredLists) {
    const { byParent: ofEach, ...ranges } = queries
    const ofParents = [...ofEach].map(([parent, each]) =>
      Object.entries(each).map(([name, run]) => [`each.${parent}.${name}`, run] as const),
    )
    for (const [name, run] of [...Object.entries(ranges), ...ofParents.flat()]) {
      for (const params of everySetOfFilters(run as never)) {
        // In customer scope a list is always filtered by the customer.
        const isOfCustomers =
          !customerCondition || customerCondition in params || name.startsWith(`each.${customerCondition}.`)
        await collect(`${list}:list.${name}`, (recorder) => run(recorder, params as never), isOfCustomers)
        if (!/(^|\.)(rows|byIds?)$/.test(name)) continue
        // With few columns a covering index may look cheaper.
        for (const column of ['sequence', 'createdAt']) {
          const columns = createProjection([column])
          const read = (recorder: Tx) => (run as ListQueries['rows'])(recorder, params as never, columns)
          await collect(`${list}:list.${name} of ${column}`, read, isOfCustomers)
        }
      }
    }
  }
  const key = { merchantId: '', list: '', name: '' }
  await collect('database:takeSequenceNumber', (tx) => takeSequenceNumber(tx, '', 'addresses:'))
  await collect('database:newRowFields', (tx) =>
    newRowFields(tx, { merchantId: '', now: () => 0, newId: () => '' }, 'payouts'),
  )
  await collect('database:latestSequenceNumber', (tx) => latestSequenceNumber(tx, key))
  await collect('database:updateListCounts', (tx) =>
    updateListCounts(tx, { ...key, lists: [''], sequence: 1, change: 1 }),
  )
  await collect('database:readListCount', (tx) => readListCount(tx, key))
  // From the newest row and from the oldest: two queries.
  await collect('database:findPageStart', (tx) => findPageStart(tx, { ...key, total: 1, offset: 0 }))
  await collect('database:findPageStart', (tx) => findPageStart(tx, { ...key, total: 1, offset: 1 }))
  return collected
}

/** Returns the customer-scope variants of a query, for a read and for a transaction, if they differ from it. */
function asOneCustomer({ name, query }: Collected): Pick<Collected, 'name' | 'query'>[] {
  const customerQueries: Query[] = []
  const execute: Reader['execute'] = (narrowed) => {
    customerQueries.push(narrowed)
    return []
  }
  const customerId = '019b7679-7400-7000-8000-000000000000'
  const everyParam = new Proxy({}, { get: () => customerId, ownKeys: () => [] })
  const db = customerScope({ execute, write: (run) => run({ execute } as Tx) } as Database, customerId)
  // Queries across merchants belong to the service itself and are rejected in customer scope.
  void attempt(() => isRead(query) && db.execute(query, everyParam)).catch(() => {})
  void db.write(async (tx) => tx.execute(query, everyParam)).catch(() => {})
  return customerQueries.filter((narrowed) => narrowed !== query).map((query) => ({ name, query }))
}

/** Returns parameters for each set of filters: the parameters that a query checks before it runs. */
function everySetOfFilters(run: (db: Reader, params: object) => Promise<unknown>): object[] {
  const filters = new Set<string>()
  const watching = new Proxy({}, { get: (_, name) => filters.add(String(name)) && '' })
  void run({ execute: async () => [] }, watching)
  const names = [...filters]
  return Array.from({ length: 2 ** names.length }, (_, set) =>
    Object.fromEntries(names.filter((_, bit) => set & (1 << bit)).map((name) => [name, ''])),
  )
}
