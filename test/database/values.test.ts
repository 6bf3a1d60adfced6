import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Params } from '../../src/database/query.ts'
import {
  insertRow,
  listParam,
  query,
  queryOne,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../src/database/query.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine } from '../support/app.ts'
import { openTestDatabaseOn } from './open-test-database.ts'
import { attempt, idOf, merchantRow, upTo } from './rows.ts'

const insertMerchant = insertRow('merchants')
const insertAccount = insertRow('accounts')
const insertKey = insertRow('idempotencyKeys')
const insertCustomer = insertRow('customers')
const maxInteger = 2n ** 63n - 1n
const merchantId = idOf(1)

async function startDatabase(engine: Engine) {
  const { db } = await openTestDatabaseOn(engine)
  await db.write(async (tx) => {
    for (const number of upTo(3)) await insertMerchant(tx, merchantRow(number))
  })
  return db
}

const accountRow = (id: string, balance: bigint | null, entryCount = 0) => ({
  merchantId,
  id,
  kind: balance === null ? ('fees' as const) : ('wallet' as const),
  assetCode: 'USDC',
  balance,
  entryCount,
  latestTime: 0n,
  reachableBalance: null,
})

// Every engine returns the values that SQLite returns.
describe.each(everyEngine)('values on %s', (engine) => {
  test('are exact bigints for amounts, numbers for integers, and null', async () => {
    const db = await startDatabase(engine)
    const rows = [accountRow('a', maxInteger, 1), accountRow('b', 2n ** 53n + 1n, 2_147_483_647), accountRow('c', null)]
    await db.write(async (tx) => {
      for (const row of rows) await insertAccount(tx, row)
    })
    const accounts = query((p: Params<{ merchantId: string }>) =>
      selectFrom('accounts').selectAll().where('merchantId', '=', p.merchantId).orderBy('id'),
    )
    const sums = queryOne((p: Params<{ merchantId: string }>) =>
      selectFrom('accounts')
        .select([sql<bigint>`count(*)`.as('rows'), sql<bigint>`max(entry_count)`.as('most')])
        .where('merchantId', '=', p.merchantId),
    )

    expect(await accounts(db, { merchantId })).toEqual(rows)
    expect(await sums(db, { merchantId })).toEqual({ rows: 3n, most: 2_147_483_647n })
  })

  test.each([
    '2026-01-01T00:00:00.000Z',
    '2026-12-31T23:59:59.999Z',
    '2026-01-01T00:00:00.010Z',
    '1899-02-28T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
  ])('keep times unchanged: %s', async (createdAt) => {
    const db = await startDatabase(engine)
    await db.write((tx) => insertMerchant(tx, { ...merchantRow(4), createdAt }))
    const at = queryOne((p: Params<{ id: string }>) =>
      selectFrom('merchants').select('createdAt').where('id', '=', p.id),
    )
    const since = query((p: Params<{ createdAt: string; id: string }>) =>
      selectFrom('merchants').select('createdAt').where('createdAt', '>=', p.createdAt).where('id', '=', p.id),
    )

    expect(await at(db, { id: idOf(4) })).toEqual({ createdAt })
    expect(await since(db, { createdAt, id: idOf(4) })).toEqual([{ createdAt }])
  })

  test.each([{ z: 1, a: { list: [1, null, true], text: 'a "quoted" 🙂 \\ ' } }, [], [{ outcome: 'PASSED' }]])(
    'keep JSON unchanged: %j',
    async (result) => {
      const db = await startDatabase(engine)
      const row = {
        merchantId,
        operation: 'test',
        key: 'k',
        fingerprint: '',
        result,
        createdAt: merchantRow(1).createdAt,
      }
      await db.write((tx) => insertKey(tx, row))
      const storedValue = queryOne((p: Params<{ merchantId: string }>) =>
        selectFrom('idempotencyKeys').select('result').where('merchantId', '=', p.merchantId),
      )

      expect(JSON.stringify((await storedValue(db, { merchantId }))?.result)).toBe(JSON.stringify(result))
    },
  )

  test('that are not UUIDs can be compared with ids, and equal no id', async () => {
    const db = await startDatabase(engine)
    const byId = query((p: Params<{ id: string }>) => selectFrom('merchants').select('id').where('id', '=', p.id))
    const butOne = query((p: Params<{ id: string }>) =>
      selectFrom('merchants').select('id').where('id', '<>', p.id).orderBy('id'),
    )
    const among = query((p: Params<{ ids: readonly string[] }>) =>
      selectFrom('merchants').select('id').where('id', 'in', listParam(p.ids)).orderBy('id'),
    )

    for (const id of ['', 'x', "'", '0', 'NULL', '00000000-0000-0000-0000-000000000000', '{}']) {
      expect(await byId(db, { id })).toEqual([])
      expect(await butOne(db, { id })).toHaveLength(3)
    }
    expect(await among(db, { ids: [] })).toEqual([])
    expect(await among(db, { ids: ['"', '\\', '{', 'null', idOf(2), idOf(2), idOf(1)] })).toEqual([
      { id: idOf(1) },
      { id: idOf(2) },
    ])
    expect(await among(db, { ids: upTo(1_000).map(idOf) })).toHaveLength(3)
  })

  test('that are strings keep every character', async () => {
    const db = await startDatabase(engine)
    const name = `'; drop table merchants; -- "?1" $1 :id \\ \n 🙂 {a,b} 007`
    await db.write((tx) => insertMerchant(tx, { ...merchantRow(4), name }))
    const named = query((p: Params<{ names: readonly string[] }>) =>
      selectFrom('merchants').select('name').where('name', 'in', listParam(p.names)),
    )

    expect(await named(db, { names: [name, '"', 'x'] })).toEqual([{ name }])
  })

  test('that are missing cause an error with the parameter’s name', async () => {
    const db = await startDatabase(engine)
    const byId = query((p: Params<{ id: string }>) => selectFrom('merchants').select('id').where('id', '=', p.id))

    await expect(attempt(() => byId(db, {} as { id: string }))).rejects.toThrow('the query parameter id has no value')
    expect(await byId(db, { id: idOf(1) })).toHaveLength(1)
  })
})

const rename = statement((p: Params<{ id: string; name: string }>) =>
  updateTable('merchants').set({ name: p.name }).where('id', '=', p.id),
)
const renamed = statementOne((p: Params<{ id: string; name: string }>) =>
  updateTable('merchants').set({ name: p.name }).where('id', '=', p.id).returning('name'),
)
const nameOf = queryOne((p: Params<{ id: string }>) => selectFrom('merchants').select('name').where('id', '=', p.id))

describe.each(everyEngine)('a transaction on %s', (engine) => {
  test('sees its own writes, which other readers see only after the commit', async () => {
    const db = await startDatabase(engine)
    const id = idOf(1)

    const seen = await db.write(async (tx) => {
      await rename(tx, { id, name: 'First' })
      const [own, others] = [await nameOf(tx, { id }), engine === 'postgres' ? await nameOf(db, { id }) : null]
      return [own?.name, others?.name, (await renamed(tx, { id, name: 'Second' }))?.name]
    })

    expect(seen).toEqual(['First', engine === 'postgres' ? 'Merchant 1' : undefined, 'Second'])
    expect(await nameOf(db, { id })).toEqual({ name: 'Second' })
  })

  test('is rolled back when it throws or one of its statements fails', async () => {
    const db = await startDatabase(engine)
    const id = idOf(1)

    await expect(
      db.write(async (tx) => {
        await rename(tx, { id, name: 'First' })
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await expect(
      db.write(async (tx) => {
        await renamed(tx, { id, name: 'First' })
        await insertCustomer(tx, { ...merchantRow(1), merchantId: idOf(9) } as never)
      }),
    ).rejects.toThrow()

    expect(await nameOf(db, { id })).toEqual({ name: 'Merchant 1' })
    expect(await db.write((tx) => renamed(tx, { id, name: 'Third' }))).toEqual({ name: 'Third' })
  })

  test('loses no update when 200 transactions run concurrently', async () => {
    const db = await startDatabase(engine)
    await db.write((tx) => insertAccount(tx, accountRow('a', 0n)))
    const add = statementOne((p: Params<{ merchantId: string }>) =>
      updateTable('accounts')
        .set({ balance: sql`balance + 1` })
        .where('merchantId', '=', p.merchantId)
        .returning('balance'),
    )

    const balances = await Promise.all(upTo(200).map(() => db.write((tx) => add(tx, { merchantId }))))

    expect(new Set(balances.map((row) => row?.balance)).size).toBe(200)
  })

  test('rejects a statement after it has ended', async () => {
    const db = await startDatabase(engine)
    const late = await db.write(async (tx) => () => nameOf(tx, { id: idOf(1) }))

    await expect(attempt(late)).rejects.toThrow('after its operation had ended')
  })
})
