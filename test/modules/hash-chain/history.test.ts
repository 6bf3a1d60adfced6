import { expect, test } from 'vitest'
import { tables } from '../../../src/database/tables.ts'
import type { HashedTable, HistoryRow } from '../../../src/modules/hash-chain/hashed-columns.ts'
import {
  absentDigest,
  computeDigests,
  hashedColumns,
  historyColumns,
  rowSlots,
  tableInSlot,
  unhashedColumns,
} from '../../../src/modules/hash-chain/hashed-columns.ts'
import { computeSealHash, createSeal, genesisHead } from '../../../src/modules/hash-chain/seal.ts'

test.each(Object.keys(hashedColumns) as HashedTable[])(
  'every column of %s is hashed or excluded with a reason',
  (table) => {
    const own = table === 'events' ? ['merchantId', 'sequence'] : ['merchantId']
    const decidedColumns = [...own, ...hashedColumns[table], ...Object.keys(unhashedColumns[table])]
    // A new column needs a new version of the hash format or a reason, because existing seals don't cover it.
    expect(decidedColumns.toSorted()).toEqual(Object.keys(tables[table]).toSorted())
  },
)

test.each([
  ['payout.initiated', 'payouts'],
  ['payout.completed', 'payoutEvents'],
  ['payout.failed', 'payoutEvents'],
  ['payout.returned', 'payoutEvents'],
  ['wallet.transaction.inbound', 'deposits'],
  ['deposit.reversed', 'depositReversals'],
  ['wallet.created', 'wallets'],
  ['customer.created', null],
  ['customer.updated', null],
] as const)(
  'the hash chain’s seal of a %s event covers the event row, the related row (table: %s) and the transfer',
  (type, rowTable) => {
    expect(rowSlots.map((slot) => tableInSlot(slot, type))).toEqual(['events', rowTable, 'transfers'])
    const values = historyColumns.map(({ name }, index) => [name, `value ${index}`])
    const row = { ...Object.fromEntries(values), sequence: 1, eventsType: type } as HistoryRow
    const digests = computeDigests(row)
    expect(digests.map((digest) => digest !== absentDigest)).toEqual([true, rowTable !== null, true])
    for (const { table, name } of historyColumns) {
      if (name === 'eventsType') continue
      const changedDigests = computeDigests({ ...row, [name]: 'another' })
      expect([name, rowSlots.filter((_, index) => changedDigests[index] !== digests[index])]).toEqual([
        name,
        table === rowTable ? ['made'] : rowSlots.filter((slot) => slot === table),
      ])
    }
  },
)

test('computeDigests returns the digest of an absent row for each row of a missing event', () => {
  expect(computeDigests(null)).toEqual([absentDigest, absentDigest, absentDigest])
})

const emptyRow = Object.fromEntries(historyColumns.map(({ name }) => [name, null]))
const deposit = {
  ...emptyRow,
  sequence: 1,
  eventsType: 'wallet.transaction.inbound',
  eventsObjectId: '00000000-0000-7000-8000-000000000001',
  eventsVersion: 1,
  eventsTime: 1_767_225_600_000n,
  depositsReference: 'a;1:b',
  depositsAmount: 700_000_000n,
  transfersId: '00000000-0000-7000-8000-000000000001',
  transfersAmount: 700_000_000n,
  transfersFee: 0n,
} as HistoryRow

test('version 1 of the hash format never changes, because seals of existing hash chains use that version', () => {
  const customer = {
    ...emptyRow,
    sequence: 2,
    eventsType: 'customer.created',
    eventsData: { email: 'ö' },
  } as HistoryRow
  const merchantId = '00000000-0000-7000-8000-000000000002'
  const seal = createSeal([deposit, customer], { merchantId, head: genesisHead, createdAt: '2026-01-01T00:00:00.000Z' })
  expect(seal).toMatchObject({ number: 1, form: 1, through: 2 })
  expect(seal.prints).toMatchInlineSnapshot(`"sbbHBrR8fODDhCTDNJj1MjKT39h27Xnw----------------"`)
  expect(seal.contents).toMatchInlineSnapshot(`"199c37677793add8222c7b095eaf6de6d716f11bb3dc5f9d7ff32191cd038d65"`)
  expect(seal.hash).toMatchInlineSnapshot(`"f5e810dde175a87cc8214aa7bda061a068972355e6202677e880ea38ce78e1ce"`)
})

test('computeDigests returns different digests for rows with different values', () => {
  const digests = [
    deposit,
    { ...deposit, depositsReference: 'a', depositsWalletId: 'b' },
    { ...deposit, depositsReference: null, depositsWalletId: 'a;1:b' },
    { ...deposit, depositsReference: '-' },
    { ...deposit, depositsReference: '' },
    { ...deposit, depositsReference: null },
  ].map((row) => computeDigests(row)[1])
  expect(new Set(digests).size).toBe(digests.length)
  expect(computeDigests({ ...emptyRow, sequence: 1, eventsType: 'payout.initiated' } as HistoryRow).slice(1)).toEqual([
    absentDigest,
    absentDigest,
  ])
})

test('the hash of a seal in the hash chain covers all fields of the seal and the previous seal', () => {
  const merchantId = '00000000-0000-7000-8000-000000000002'
  const seal = createSeal([deposit], { merchantId, head: genesisHead, createdAt: '2026-01-01T00:00:00.000Z' })
  const changedHashes = [
    { merchantId: '00000000-0000-7000-8000-000000000003' },
    ...[{ number: 2 }, { form: 2 }, { through: 2 }, { prints: '' }, { contents: '' }],
    { createdAt: '2026-01-02T00:00:00.000Z' },
  ].map((change) => computeSealHash({ ...seal, ...change }, genesisHead))
  const otherHeads = [{ hash: 'x' }, { through: 1 }].map((change) =>
    computeSealHash(seal, { ...genesisHead, ...change }),
  )
  expect(new Set([seal.hash, ...changedHashes, ...otherHeads]).size).toBe(10)
})
