import { expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { forCustomer } from '../../src/database/one-customer.ts'
import type { Params, Query, Tx } from '../../src/database/query.ts'
import { change, from, into, query, statement } from '../../src/database/query.ts'
import { compileForSqlite } from '../../src/database/sqlite/compile-for-sqlite.ts'

type OfMerchant = Params<{ merchantId: string }>

const walletsOf = (p: OfMerchant) => from('wallets').select('wallets.id').where('wallets.merchantId', '=', p.merchantId)
const transfersOf = (p: OfMerchant) =>
  from('transfers').select('transfers.id').where('transfers.merchantId', '=', p.merchantId)

test.each([
  {
    joined: 'joined to the wallet that it is of',
    looks: 0,
    build: (p: OfMerchant) =>
      walletsOf(p).innerJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('wallets.id', '=', 'accounts.id'),
      ),
  },
  {
    joined: 'joined where there is one',
    looks: 0,
    build: (p: OfMerchant) =>
      walletsOf(p).leftJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('accounts.id', '=', 'wallets.id'),
      ),
  },
  {
    joined: 'that is there without a wallet too',
    looks: 1,
    build: (p: OfMerchant) =>
      walletsOf(p)
        .rightJoin('accounts', (join) => join.onRef('accounts.id', '=', 'wallets.id'))
        .where('accounts.merchantId', '=', p.merchantId),
  },
  {
    joined: 'joined by another column of the wallet',
    looks: 1,
    build: (p: OfMerchant) =>
      walletsOf(p).innerJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('accounts.id', '=', 'wallets.ownerId'),
      ),
  },
  {
    joined: 'joined by either of two',
    looks: 1,
    build: (p: OfMerchant) =>
      walletsOf(p).innerJoin('accounts', (join) =>
        join
          .onRef('accounts.merchantId', '=', 'wallets.merchantId')
          .on((eb) =>
            eb.or([eb('accounts.id', '=', eb.ref('wallets.id')), eb('accounts.id', '=', eb.ref('wallets.ownerId'))]),
          ),
      ),
  },
  {
    joined: 'joined to what only belongs to a wallet',
    looks: 2,
    build: (p: OfMerchant) =>
      transfersOf(p).innerJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'transfers.merchantId').onRef('accounts.id', '=', 'transfers.walletId'),
      ),
  },
])('for one customer an account $joined is held against the wallets $looks times', async ({ build, looks }) => {
  const found: Query[] = []
  const execute = async (narrowed: Query) => {
    found.push(narrowed)
    return []
  }
  await query(build as typeof walletsOf)(forCustomer({ execute } as Partial<Database> as Database, 'the customer'), {
    merchantId: 'the merchant',
  })
  const [narrowed] = found
  if (!narrowed) throw new Error('the query did not run')
  expect(compileForSqlite(narrowed.node).sql.match(/exists/g) ?? []).toHaveLength(looks)
})

test('for one customer every row of an insert is held to be its own, not only the first', async () => {
  type Two = Params<{ merchantId: string; first: string; second: string }>
  const insertTwo = statement((p: Two) =>
    into('wallets').values([
      { merchantId: p.merchantId, customerId: p.first },
      { merchantId: p.merchantId, customerId: p.second },
    ] as never),
  )
  const write = (run: (tx: Tx) => unknown) => run({ execute: async () => [], pending: {} } as unknown as Tx)
  const db = forCustomer({ write } as unknown as Database, 'the customer')
  const inserting = (second: string) => async () =>
    db.write((tx) => insertTwo(tx, { merchantId: 'the merchant', first: 'the customer', second }))

  await expect(inserting('another')()).rejects.toMatchObject({ code: 'INSUFFICIENT_SCOPE' })
  await expect(inserting('the customer')()).resolves.toEqual([])
})

test('for one customer a change of a table by another name does not run, because it is not narrowed', async () => {
  const changeOther = statement((p: OfMerchant) =>
    change('wallets as other')
      .set({ description: 'changed' } as never)
      .where('other.merchantId', '=', p.merchantId),
  )
  const write = (run: (tx: Tx) => unknown) => run({ execute: async () => [], pending: {} } as unknown as Tx)
  const db = forCustomer({ write } as unknown as Database, 'the customer')

  const changing = async () => db.write((tx) => changeOther(tx, { merchantId: 'the merchant' }))

  await expect(changing()).rejects.toThrow('by its own name')
})
