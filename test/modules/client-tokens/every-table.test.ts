// Runs each statement type on each table of a merchant with the database handle of a customer's client token: a row of
// another owner can't be selected, changed, deleted or inserted, unless customer-tables.ts declares the table open to
// it.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import type { CustomerTable, StatementVerb } from '../../../src/database/customer-tables.ts'
import { customerTables, operatorTables } from '../../../src/database/customer-tables.ts'
import type { Database } from '../../../src/database/database.ts'
import type { Reader, Tx } from '../../../src/database/query.ts'
import { deleteFrom, insertRow, query, selectFrom, statement, updateTable } from '../../../src/database/query.ts'
import type { TableName } from '../../../src/database/tables.ts'
import { tables, views } from '../../../src/database/tables.ts'
import { listOperatorActions } from '../../../src/modules/operators/list-operator-actions.ts'
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
const tablesOfMerchants = (all: object) => Object.keys(all).filter((table) => 'merchantId' in columnsOf(table))

/** The columns that identify a row: every non-null column whose type can be compared. */
const keyOf = (table: string, row: Row) =>
  Object.entries(columnsOf(table))
    .filter(([name, { kind }]) => ['uuid', 'text', 'integer'].includes(kind) && row[name] !== null)
    .map(([name]) => name)

/** Statements for exactly one row. Kysely has types for one table, hence the casts. */
function statementsFor(name: string, row: Row) {
  const table = name as 'wallets'
  const where = (rows: ReturnType<typeof selectFrom<'wallets'>>, p: Row) =>
    keyOf(name, row).reduce((condition, column) => condition.where(column as 'id', '=', p[column] as string), rows)
  const updating = updateTable(table).set({ merchantId: sql`merchant_id` }).returning('merchantId')
  const deleting = deleteFrom(table).returning('merchantId')
  return {
    select: query((p: Row) => where(selectFrom(table).selectAll() as never, p)),
    update: statement((p: Row) => where(updating as never, p)),
    delete: statement((p: Row) => where(deleting as never, p)),
  } as Record<Exclude<StatementVerb, 'insert'>, (db: Reader, row: Row) => Promise<unknown[]>>
}

const allOf = (table: string) =>
  query((p: { merchantId: string }) =>
    selectFrom(table as 'wallets')
      .selectAll()
      .where('merchantId', '=', p.merchantId),
  )

const rollback = new Error('undone')

/** Runs `run` in a transaction and rolls it back. Resolves to its result, or to the code or message of its error. */
async function outcomeOf(db: Database, run: (tx: Tx) => unknown): Promise<unknown> {
  let outcome: unknown
  await db
    .write(async (tx) => {
      outcome = await run(tx)
      throw rollback
    })
    .catch((error: Error) => {
      if (error !== rollback) outcome = error instanceof DomainError ? error.code : error.message
    })
  return outcome
}

const isOpen = (table: string, verb: StatementVerb) =>
  (customerTables as Readonly<Record<string, CustomerTable>>)[table]?.merchantWide?.verbs.includes(verb) === true

/** Inserts a row into each table that `startCustomers` leaves empty. */
async function fillEmptyTables({ app, others }: Customers): Promise<void> {
  const { merchantId } = others
  const at = '2026-03-01T12:00:00.000Z'
  const rows: readonly (readonly [TableName, Row])[] = [
    ['pooledAddresses', { family: 'solana', sequence: 1, address: 'oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96' }],
    ['webhookLeases', { holder: 'another process', until: 0n }],
    ['seals', { number: 1, form: 1, through: 1, prints: '', contents: '', hash: 'a seal', createdAt: at }],
    ['statisticsCursors', { through: 1 }],
    [
      'payoutStatistics',
      {
        ...{ day: '2026-03-01', assetCode: 'USDC', recipientCurrency: 'NGN', status: 'PROCESSING', durationBucket: 0 },
        ...{ payoutCount: 1, amountUnits: 1n, amountRest: 0n, feeUnits: 0n, feeRest: 0n },
      },
    ],
    ['dailyBalanceChanges', { day: '2026-03-01', assetCode: 'USDC', changeUnits: 1n, changeRest: 0n }],
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
      const existing = await allOf(table)(tx, { merchantId })
      if (existing.length === 0) await (insertRow(table) as (tx: Tx, row: Row) => unknown)(tx, { merchantId, ...row })
    }
  })
}

describe.each(everyEngine)('a customer’s client token on %s', (engine) => {
  test('cannot read other owners’ rows in any merchant table, or write rows in tables that are not open to customers', async () => {
    const world = await startCustomers(engine)
    await fillEmptyTables(world)
    const { app, ours, others } = world
    const { merchantId } = others
    const { db } = createContext(app.service, merchantId, null, 0, { ...systemCaller, customerId: ours.person })

    const outcomes: Record<string, unknown> = {}
    for (const table of tablesOfMerchants({ ...tables, ...views })) {
      const visibleRows = new Set((await allOf(table)(db, { merchantId })).map(asText))
      const whole = await allOf(table)(app.db, { merchantId })
      const foreign = whole.find((row) => !visibleRows.has(asText(row))) as Row | undefined
      if (!foreign) throw new Error(`the world has no row in ${table} that is not the customer's`)
      const { select, ...writes } = statementsFor(table, foreign)
      const countRows = async (reader: Reader) => (await select(reader, foreign)).length
      expect([table, await countRows(app.db)]).toEqual([table, 1])
      expect([table, await countRows(db), await db.snapshot(countRows)]).toEqual([table, 0, 0])
      if (!isOpen(table, 'select')) expect([table, await outcomeOf(db, countRows)]).toEqual([table, 0])
      if (!(table in tables)) continue

      const inserting = (tx: Tx) => (insertRow(table as TableName) as (tx: Tx, row: Row) => unknown)(tx, foreign)
      if (!isOpen(table, 'insert')) outcomes[`insert ${table}`] = await outcomeOf(db, inserting)
      for (const verb of ['update', 'delete'] as const) {
        const countChanged = async (tx: Tx) => (await writes[verb](tx, foreign)).length
        if (!isOpen(table, verb)) outcomes[`${verb} ${table}`] = await outcomeOf(db, countChanged)
      }
    }

    const violations = Object.entries(outcomes).filter(([name, outcome]) =>
      name.startsWith('insert')
        ? outcome !== 'INSUFFICIENT_SCOPE'
        : outcome !== 0 && !/append-only/.test(String(outcome)),
    )
    expect(violations).toEqual([])
  })
})

describe.each(everyEngine)('the tables of operators on %s', (engine) => {
  test('return no rows to a customer’s client token, in reads and in transactions, and reject its inserts', async () => {
    const { app, ours, others } = await startCustomers(engine)
    const at = '2026-03-01T12:00:00.000Z'
    const [id, passwordHash] = [app.service.newId(), 'a hash']
    const link = { linkHash: null, linkExpiresAt: null }
    const operator = { id, name: 'ada', role: 'act', passwordHash, ...link, revision: 1, createdAt: at } as const
    const log = {
      operator: 'ada',
      session: 'command',
      action: 'rail pause',
      subject: 'bank',
      reason: null,
      details: {},
    }
    const rows = { operators: operator, operatorActions: { id, formId: null, createdAt: at, ...log } }
    const { merchantId } = others
    const { db } = createContext(app.service, merchantId, null, 0, { ...systemCaller, customerId: ours.person })
    for (const table of operatorTables) {
      const row: Row = rows[table]
      const insert = insertRow(table) as unknown as (tx: Tx, row: Row) => unknown
      const selectAll = query((p: { id: string }) =>
        selectFrom('operators' as const)
          .selectAll()
          .where('id', '=', p.id),
      )
      const remove = statement((p: { id: string }) => deleteFrom('operators').where('id', '=', p.id).returning('id'))
      const rename = statement((p: { id: string }) =>
        updateTable('operators').set({ name: 'mallory' }).where('id', '=', p.id).returning('id'),
      )
      expect([table, await outcomeOf(db, (tx) => insert(tx, row))]).toEqual([table, 'INSUFFICIENT_SCOPE'])
      await app.db.write(async (tx) => void (await insert(tx, row)))
      if (table !== 'operators') continue
      const countRows = async (reader: Reader) => (await selectAll(reader, { id })).length
      expect([await countRows(app.db), await countRows(db), await db.snapshot(countRows)]).toEqual([1, 0, 0])
      expect(await outcomeOf(db, countRows)).toBe(0)
      for (const change of [remove, rename]) {
        expect(await outcomeOf(db, async (tx) => (await change(tx, { id })).length)).toBe(0)
      }
    }
    expect(await listOperatorActions({ ...app.service, db }, {})).toEqual({ items: [], next: null })
    expect((await listOperatorActions(app.service, {})).items).toHaveLength(1)
  })
})

const asText = (row: object) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))
