import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Params } from '../../../src/database/query.ts'
import { queryOne, selectFrom } from '../../../src/database/query.ts'
import type { RowOf } from '../../../src/database/tables.ts'
import { tables } from '../../../src/database/tables.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { checksumOfValues, isPayoutIntact } from '../../../src/modules/payouts/payout-checksum.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngine } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { nigerian, startWithPlaces } from './payout-places.ts'

/** How many columns the first checksums were made of. */
const first = 27

test('a column that a table gains is no part of the checksums of rows from before, and of those after', () => {
  const values = fc.array(fc.option(fc.string({ minLength: 1 })), { minLength: first, maxLength: first })
  fc.assert(
    fc.property(values, fc.string({ minLength: 1 }), (earlier, added) => {
      const checksum = checksumOfValues(earlier)
      expect(checksumOfValues([...earlier, null])).toBe(checksum)
      expect(checksumOfValues([...earlier, null, null])).toBe(checksum)
      expect(checksumOfValues([...earlier, added])).not.toBe(checksum)
      expect(checksumOfValues([...earlier, null, added])).not.toBe(checksumOfValues([...earlier, added, null]))
    }),
  )
})

test('a checksum is over all columns of the first, also where the last have nothing', () => {
  for (const count of [0, 1, first - 1, first]) {
    const values = Array.from({ length: first }, (_, i) => (i < count ? `${i}` : null))
    expect(checksumOfValues(values)).toBe(crc32(values.join('\u001f')) | 0)
  }
})

test('the columns of the first checksums are where they were', () => {
  const changing = ['status', 'receiverWalletId', 'cryptoTransactionId', 'network', 'address', 'fiatReferenceId']
  const lasting = Object.keys(tables.payouts).filter((name) => ![...changing, 'updatedAt', 'checksum'].includes(name))
  expect(lasting[first - 1]).toBe('payoutMethodId')
})

type Row = RowOf<'payouts'>

/** The row with another value in a column. */
function changed(row: Row, column: string): Row {
  const { [column as keyof Row]: value } = row
  const other = typeof value === 'bigint' ? value + 1n : typeof value === 'number' ? value + 1 : `${value ?? ''}x`
  return { ...row, [column]: other }
}

const payment = { ...nigerian, assetCode: 'USDC', amount: '1' } as const

describe.each(everyEngine)('a payout’s row on %s', (engine) => {
  test('is as it was written until something changes that never does', async () => {
    const { app } = await startWithPlaces(engine)
    const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, 'key'), payment)
    const changing = ['status', 'receiverWalletId', 'cryptoTransactionId', 'network', 'address', 'fiatReferenceId']
    for (const status of [null, 'COMPLETED', 'RETURNED'] as const) {
      if (status !== null) await settlePayout(app.context(), { payoutId: id, status })
      const row = await rowOf(app, id)
      expect(isPayoutIntact(row)).toBe(true)
      for (const column of Object.keys(tables.payouts)) {
        const isFree = [...changing, 'updatedAt'].includes(column)
        expect([column, isPayoutIntact(changed(row, column))]).toEqual([column, isFree])
      }
    }
  })

  test('without a checksum is held against the fingerprint of its request, where that named the recipient', async () => {
    const { app, customers, methods, wallets } = await startWithPlaces(engine)
    const { payer: customerId } = customers
    const requests = [
      payment,
      { ...payment, customerId },
      { ...payment, walletId: wallets.ofMerchantRich },
      { ...payment, transferType: 'swift', narration: 'March' },
      { ...payment, transferType: 'ach', walletId: wallets.ofPayer, customerId, paymentPurpose: 'GIFTS' },
    ] as const
    const said = [
      ...['assetCode', 'amount', 'recipientName', 'recipientCurrency', 'recipientCountry', 'bankName', 'bankCode'],
      ...['customerId', 'accountNumber', 'narration', 'paymentPurpose'],
    ]
    for (const [place, request] of requests.entries()) {
      const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, `key ${place}`), request)
      const row = { ...(await rowOf(app, id)), checksum: null }
      expect([place, isPayoutIntact(row)]).toEqual([place, true])
      const found = Object.keys(tables.payouts).filter((column) => !isPayoutIntact(changed(row, column)))
      const isNamed = [
        ['walletId', 'walletId' in request],
        ['transferType', 'transferType' in request],
        ['fingerprint', true],
      ] as const
      const expected = [...said, ...isNamed.flatMap(([column, isSaid]) => (isSaid ? [column] : []))]
      // A checksum that is there is another way to say it.
      expect([place, found.sort()]).toEqual([place, [...expected, 'checksum'].sort()])
    }
    for (const [key, request] of [
      [null, payment],
      ['method', { assetCode: 'USDC', amount: '1', payoutMethodId: methods.ofMerchant }],
    ] as const) {
      const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, key), request)
      const row = { ...(await rowOf(app, id)), checksum: null }
      // Nothing is known of it.
      for (const column of said) expect([column, isPayoutIntact(changed(row, column))]).toEqual([column, true])
    }
  })
})

async function rowOf({ db, merchant }: App, id: string): Promise<Row> {
  const row = await payoutById(db, { merchantId: merchant.id, id })
  if (!row) throw new Error(`there is no payout ${id}`)
  return row
}

const payoutById = queryOne((p: Params<{ merchantId: string; id: string }>) =>
  selectFrom('payouts').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)
