// Every table of a merchant that tables.ts has, by the database of a client token that acts as one customer: a row that this
// customer does not see can not be selected, changed, deleted or copied by it, unless customer-tables.ts says why it has to be.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import type { CustomerTable, StatementVerb } from '../../../src/database/customer-tables.ts'
import { customerTables } from '../../../src/database/customer-tables.ts'
import type { Database } from '../../../src/database/database.ts'
import type { Reader, Tx } from '../../../src/database/query.ts'
import { deleteFrom, insertRow, query, selectFrom, statement, updateTable } from '../../../src/database/query.ts'
import type { TableName } from '../../../src/database/tables.ts'
import { tables, views } from '../../../src/database/tables.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import { systemCaller } from '../../../src/operations/access/api-caller.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine } from '../../support/app.ts'
import type { Customers } from './support/customers-world.ts'
import { startCustomers } from './support/customers-world.ts'

type Row = Readonly<Record<string, unknown>>

const columnsOf = (table: string): Readonly<Record<string, { kind: string }>> =>
  ({ ...tables, ...views })[table as never]
const ofMerchants = (all: object) => Object.keys(all).filter((table) => 'merchantId' in columnsOf(table))

/** By what a row is named among all: whatever of it can be compared. */
const keyOf = (table: string, row: Row) =>
  Object.entries(columnsOf(table))
    .filter(([name, { kind }]) => ['uuid', 'text', 'integer'].includes(kind) && row[name] !== null)
    .map(([name]) => name)

/** What may be asked of one row; Kysely has types for one table. */
function statementsFor(name: string, row: Row) {
  const table = name as 'wallets'
  const where = (rows: ReturnType<typeof selectFrom<'wallets'>>, p: Row) =>
    keyOf(name, row).reduce((held, column) => held.where(column as 'id', '=', p[column] as string), rows)
  const changing = updateTable(table).set({ merchantId: sql`merchant_id` }).returning('merchantId')
  const removing = deleteFrom(table).returning('merchantId')
  return {
    select: query((p: Row) => where(selectFrom(table).selectAll() as never, p)),
    update: statement((p: Row) => where(changing as never, p)),
    delete: statement((p: Row) => where(removing as never, p)),
  } as Record<Exclude<StatementVerb, 'insert'>, (db: Reader, row: Row) => Promise<unknown[]>>
}

const allOf = (table: string) =>
  query((p: { merchantId: string }) =>
    selectFrom(table as 'wallets')
      .selectAll()
      .where('merchantId', '=', p.merchantId),
  )

const undone = new Error('undone')

/** What is left of a transaction that is undone: how many rows of the whole table it had changed, or what refused it. */
async function outcomeOf(db: Database, run: (tx: Tx) => unknown): Promise<unknown> {
  let outcome: unknown
  await db
    .write(async (tx) => {
      outcome = await run(tx)
      throw undone
    })
    .catch((error: Error) => {
      if (error !== undone) outcome = error instanceof DomainError ? error.code : error.message
    })
  return outcome
}

const isOpen = (table: string, verb: StatementVerb) =>
  (customerTables as Readonly<Record<string, CustomerTable>>)[table]?.merchantWide?.verbs.includes(verb) === true

/** Rows of tables that no operation of the world fills. */
async function fillTheRest({ app, others }: Customers): Promise<void> {
  const { merchantId } = others
  const at = '2026-03-01T12:00:00.000Z'
  const rows: readonly (readonly [TableName, Row])[] = [
    ['pooledAddresses', { family: 'solana', sequence: 1, address: 'oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96' }],
    ['webhookLeases', { holder: 'another process', until: 0n }],
    ['seals', { number: 1, form: 1, through: 1, prints: '', contents: '', hash: 'a seal', createdAt: at }],
    ['chainEvents', { reference: 'a transfer' }],
    ['idempotencyKeys', { operation: 'test', key: 'of another', fingerprint: '', result: {}, createdAt: at }],
    [
      'chainDeposits',
      {
        ...{ network: 'erc20', txHash: '0xcafe', logIndex: 0, reference: 'a transfer', addressId: merchantId },
        ...{ walletId: others.wallets.company, assetCode: 'USDC', amount: 1n, confirmations: 1, state: 'DETECTED' },
        ...{ cause: null, depositReference: null, rail: 'node', detectedAt: at, creditedAt: null, updatedAt: at },
      },
    ],
  ]
  const mistake = { walletId: others.wallets.company, amount: '1', reference: 'a mistake' }
  await depositToWallet(others.context(), mistake)
  await reverseDeposit(others.context(), { reference: 'a mistake', reason: 'typed twice' })
  await app.db.write(async (tx) => {
    for (const [table, row] of rows) {
      const there = await allOf(table)(tx, { merchantId })
      if (there.length === 0) await (insertRow(table) as (tx: Tx, row: Row) => unknown)(tx, { merchantId, ...row })
    }
  })
}

describe.each(everyEngine)('a token for one customer on %s', (engine) => {
  test('finds, changes, deletes and copies no row that is not its own, in any table of a merchant', async () => {
    const world = await startCustomers(engine)
    await fillTheRest(world)
    const { app, ours, others } = world
    const { merchantId } = others
    const { db } = createContext(app.service, merchantId, null, 0, { ...systemCaller, customerId: ours.person })

    const outcomes: Record<string, unknown> = {}
    for (const table of ofMerchants({ ...tables, ...views })) {
      const seen = new Set((await allOf(table)(db, { merchantId })).map(asText))
      const whole = await allOf(table)(app.db, { merchantId })
      const foreign = whole.find((row) => !seen.has(asText(row))) as Row | undefined
      if (!foreign) throw new Error(`the world has no row in ${table} that is not the customer's`)
      const { select, ...writes } = statementsFor(table, foreign)
      const found = async (reader: Reader) => (await select(reader, foreign)).length
      expect([table, await found(app.db)]).toEqual([table, 1])
      expect([table, await found(db), await db.snapshot(found)]).toEqual([table, 0, 0])
      if (!isOpen(table, 'select')) expect([table, await outcomeOf(db, found)]).toEqual([table, 0])
      if (!(table in tables)) continue

      const inserting = (tx: Tx) => (insertRow(table as TableName) as (tx: Tx, row: Row) => unknown)(tx, foreign)
      if (!isOpen(table, 'insert')) outcomes[`insert ${table}`] = await outcomeOf(db, inserting)
      for (const verb of ['update', 'delete'] as const) {
        const changed = async (tx: Tx) => (await writes[verb](tx, foreign)).length
        if (!isOpen(table, verb)) outcomes[`${verb} ${table}`] = await outcomeOf(db, changed)
      }
    }

    const wrong = Object.entries(outcomes).filter(([name, outcome]) =>
      name.startsWith('insert')
        ? outcome !== 'INSUFFICIENT_SCOPE'
        : outcome !== 0 && !/append-only/.test(String(outcome)),
    )
    expect(wrong).toEqual([])
  })
})

const asText = (row: object) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))
