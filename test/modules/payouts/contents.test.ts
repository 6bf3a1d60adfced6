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

const firstColumnCount = 27

test('a column that is added to the checksum does not change the checksum of rows where the column is NULL', () => {
  const values = fc.array(fc.option(fc.string({ minLength: 1 })), {
    minLength: firstColumnCount,
    maxLength: firstColumnCount,
  })
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

test('a checksum covers all of the first 27 columns, including NULLs at the end', () => {
  for (const count of [0, 1, firstColumnCount - 1, firstColumnCount]) {
    const values = Array.from({ length: firstColumnCount }, (_, i) => (i < count ? `${i}` : null))
    expect(checksumOfValues(values)).toBe(crc32(values.join('\u001f')) | 0)
  }
})

test('the first 27 columns of the checksum keep their order', () => {
  const mutableColumns = ['status', 'receiverWalletId', 'cryptoTransactionId', 'network', 'address', 'fiatReferenceId']
  const fixedColumns = Object.keys(tables.payouts).filter(
    (name) => ![...mutableColumns, 'updatedAt', 'checksum'].includes(name),
  )
  expect(fixedColumns[firstColumnCount - 1]).toBe('payoutMethodId')
})

type Row = RowOf<'payouts'>

function withChangedColumn(row: Row, column: string): Row {
  const { [column as keyof Row]: value } = row
  const other = typeof value === 'bigint' ? value + 1n : typeof value === 'number' ? value + 1 : `${value ?? ''}x`
  return { ...row, [column]: other }
}

const payment = { ...nigerian, assetCode: 'USDC', amount: '1' } as const

describe.each(everyEngine)('a payout row on %s', (engine) => {
  test('matches its checksum until an immutable column changes', async () => {
    const { app } = await startWithPlaces(engine)
    const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, 'key'), payment)
    const mutableColumns = [
      'status',
      'receiverWalletId',
      'cryptoTransactionId',
      'network',
      'address',
      'fiatReferenceId',
    ]
    for (const status of [null, 'COMPLETED', 'RETURNED'] as const) {
      if (status !== null) await settlePayout(app.context(), { payoutId: id, status })
      const row = await rowOf(app, id)
      expect(isPayoutIntact(row)).toBe(true)
      for (const column of Object.keys(tables.payouts)) {
        const isMutable = [...mutableColumns, 'updatedAt'].includes(column)
        expect([column, isPayoutIntact(withChangedColumn(row, column))]).toEqual([column, isMutable])
      }
    }
  })

  test('without a checksum is compared with the fingerprint of its request if the request contained the recipient', async () => {
    const { app, customers, methods, wallets } = await startWithPlaces(engine)
    const { payer: customerId } = customers
    const requests = [
      payment,
      { ...payment, customerId },
      { ...payment, walletId: wallets.ofMerchantRich },
      { ...payment, transferType: 'swift', narration: 'March' },
      { ...payment, transferType: 'ach', walletId: wallets.ofPayer, customerId, paymentPurpose: 'GIFTS' },
    ] as const
    const fingerprintedColumns = [
      ...['assetCode', 'amount', 'recipientName', 'recipientCurrency', 'recipientCountry', 'bankName', 'bankCode'],
      ...['customerId', 'accountNumber', 'narration', 'paymentPurpose'],
    ]
    for (const [index, request] of requests.entries()) {
      const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, `key ${index}`), request)
      const row = { ...(await rowOf(app, id)), checksum: null }
      expect([index, isPayoutIntact(row)]).toEqual([index, true])
      const detected = Object.keys(tables.payouts).filter((column) => !isPayoutIntact(withChangedColumn(row, column)))
      const optionalColumns = [
        ['walletId', 'walletId' in request],
        ['transferType', 'transferType' in request],
        ['fingerprint', true],
      ] as const
      const expected = [
        ...fingerprintedColumns,
        ...optionalColumns.flatMap(([column, isNamedInRequest]) => (isNamedInRequest ? [column] : [])),
      ]
      // Setting a checksum is also a difference.
      expect([index, detected.sort()]).toEqual([index, [...expected, 'checksum'].sort()])
    }
    for (const [key, request] of [
      [null, payment],
      ['method', { assetCode: 'USDC', amount: '1', payoutMethodId: methods.ofMerchant }],
    ] as const) {
      const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, key), request)
      const row = { ...(await rowOf(app, id)), checksum: null }
      // Without a usable fingerprint, no change is detected.
      for (const column of fingerprintedColumns)
        expect([column, isPayoutIntact(withChangedColumn(row, column))]).toEqual([column, true])
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
