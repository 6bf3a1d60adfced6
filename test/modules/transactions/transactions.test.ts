import { describe, expect, test } from 'vitest'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { cancelPayout } from '../../../src/modules/rails/orders/cancel-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import type { App, Engine } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { bearerOptions, tokenFor } from '../client-tokens/support/tokens.ts'
import { hashOf, nodeRail, postReport, refOf, sampleReport } from '../deposits/support/node.ts'
import { nigerian } from '../payouts/payout-places.ts'
import { createRailPayout } from '../rails/support/rail-payouts.ts'

const path = '/api/transactions'
const members = [
  ...['id', 'sender_wallet_id', 'receiver_wallet_id', 'transaction_id', 'asset_code', 'amount', 'reference_id'],
  ...['status', 'created_at', 'updated_at', 'crypto_transaction_id', 'network', 'transaction_type'],
  ...['transaction_mode', 'exchange_rate', 'withdrawal_recipient_name', 'fee', 'balance', 'reason', 'customer_id'],
  ...['recipient_currency', 'recipient_country', 'bank_name', 'bank_code', 'address', 'bank_account'],
]

/** A row of the list that a test expects. */
type Expected = {
  readonly id: string
  readonly type: 'PAYOUT' | 'DEPOSIT'
  readonly customerId: string | null
  readonly asset: string
  readonly day: string
  status: string
}

/** Makes payouts and deposits of three owners in an order that looks random, in every status; oldest first. */
async function startWithTransactions(engine: Engine) {
  let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  const owners = [null, await app.customer(), await app.customer()]
  const wallets = new Map<string, string>()
  for (const customerId of owners) {
    for (const assetCode of ['USDC', 'USDT']) {
      wallets.set(`${customerId} ${assetCode}`, await app.wallet({ assetCode, ...(customerId && { customerId }) }))
    }
  }
  const expected: Expected[] = []
  const add = async (type: Expected['type'], turn: number) => {
    const customerId = owners[(turn * 7) % 3] as string | null
    const asset = turn % 5 === 0 ? ('USDT' as const) : ('USDC' as const)
    const day = new Date(nowMs).toISOString().slice(0, 10)
    const row = { type, customerId, asset, day }
    if (type === 'DEPOSIT') {
      const walletId = wallets.get(`${customerId} ${asset}`) as string
      const { transferId } = await depositToWallet(app.context(), { walletId, amount: '50', reference: `bank ${turn}` })
      const isReversed = turn % 4 === 1
      if (isReversed) await reverseDeposit(app.context(), { reference: `bank ${turn}`, reason: 'a mistake' })
      expected.push({ ...row, id: transferId, status: isReversed ? 'REVERSED' : 'COMPLETED' })
      return
    }
    const isCancelled = turn % 6 === 3 && customerId === null && asset === 'USDC'
    const input = { ...nigerian, assetCode: asset, amount: '1', customerId }
    const { id: payoutId } = isCancelled
      ? await createRailPayout(app.context())
      : await perform(createPayout, app.context(), input)
    const path = ([[], ['COMPLETED'], ['FAILED'], ['COMPLETED', 'RETURNED']] as const)[turn % 4] as readonly (
      | 'COMPLETED'
      | 'FAILED'
      | 'RETURNED'
    )[]
    expected.push({ ...row, id: payoutId, status: 'PROCESSING' })
    const made = expected.at(-1) as Expected
    if (isCancelled) {
      await perform(cancelPayout, app.context(), { payoutId })
      made.status = 'CANCELLED'
      return
    }
    for (const status of path) await settlePayout(app.context(), { payoutId, status })
    made.status = path.includes('RETURNED' as never) ? 'REVERSED' : (path[0] ?? 'PROCESSING')
  }
  // Every wallet has money before it pays.
  for (const turn of [303, 304, 308, 300, 310, 320]) await add('DEPOSIT', turn)
  for (let turn = 0; turn < 48; turn++) {
    nowMs += turn % 3 === 0 ? 7 * 3_600_000 : 0
    await add((turn * turn) % 7 < 3 ? 'DEPOSIT' : 'PAYOUT', turn)
  }
  return { app, owners, expected, newestFirst: expected.toReversed() }
}

async function pagesOf(app: App, query: string, limit: number) {
  const ids: string[] = []
  let total = 0
  for (let page = 1; ; page++) {
    const { status, body } = await app.rest('GET', `${path}?${query}&page=${page}&limit=${limit}`)
    expect([query, status]).toEqual([query, 200])
    total = body.pagination.total
    if (body.data.length === 0) return { ids, total }
    ids.push(...body.data.map(({ id }: { id: string }) => id))
  }
}

describe.each(everyEngine)('the transactions on %s', (engine) => {
  test('are payouts and deposits in one list, newest first, for any page size', async () => {
    const { app, newestFirst } = await startWithTransactions(engine)
    const ids = newestFirst.map(({ id }) => id)
    for (const limit of [1, 2, 3, 7, 10, 53, 54, 100]) {
      expect(await pagesOf(app, '', limit)).toEqual({ ids, total: ids.length })
    }
    const { body } = await app.rest('GET', `${path}?limit=100`)
    for (const [index, row] of body.data.entries()) {
      const { type, status, asset } = newestFirst[index] as Expected
      expect(Object.keys(row)).toEqual(members)
      expect([row.transaction_type, row.status, row.asset_code.toUpperCase()]).toEqual([type, status, asset])
    }
    const times = body.data.map((row: { created_at: string }) => row.created_at)
    expect(times).toEqual(times.toSorted().toReversed())
    const numbers = body.data.map((row: { transaction_id: string }) => row.transaction_id)
    expect(new Set(numbers).size).toBe(ids.length)
    await app.expectBooksToBalance()
  })

  test('can be filtered by each field and by several fields together (rulings 131 and 134)', async () => {
    const { app, owners, newestFirst } = await startWithTransactions(engine)
    const [, person] = owners
    const days = [...new Set(newestFirst.map(({ day }) => day))]
    const [last, second] = [days[0] as string, days[2] as string]
    const cases: [string, (row: Expected) => boolean][] = [
      ['', () => true],
      ['customer_id=null', ({ customerId }) => customerId === null],
      [`customer_id=${person}`, ({ customerId }) => customerId === person],
      ...['PROCESSING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REVERSED'].map((status): (typeof cases)[number] => [
        `status=${status.toLowerCase()}`,
        (row) => row.status === status,
      ]),
      ['status=PENDING', ({ status }) => status === 'PROCESSING'],
      ['transaction_type=PAYOUT', ({ type }) => type === 'PAYOUT'],
      ['transaction_type=deposit', ({ type }) => type === 'DEPOSIT'],
      ['transaction_type=internal%20transfer', () => false],
      ['transaction_mode=DEBIT', ({ type }) => type === 'PAYOUT'],
      ['transaction_mode=CREDIT&transaction_type=PAYOUT', () => false],
      ['currency=usdt', ({ asset }) => asset === 'USDT'],
      ['currency=XAU', () => false],
      [`start_date=${last}`, ({ day }) => day >= last],
      [`end_date=${second}`, ({ day }) => day <= second],
      [`end_date=${second}T00:00:00Z`, ({ day }) => day < second],
      [`start_date=${second}&end_date=${second}`, ({ day }) => day === second],
      [
        `customer_id=${person}&status=REVERSED&currency=USDC`,
        (row) => row.customerId === person && row.status === 'REVERSED' && row.asset === 'USDC',
      ],
      [
        `status=REVERSED&start_date=${second}&transaction_mode=CREDIT`,
        (row) => row.status === 'REVERSED' && row.day >= second && row.type === 'DEPOSIT',
      ],
    ]
    for (const [query, matches] of cases) {
      const ids = newestFirst.filter(matches).map(({ id }) => id)
      expect([query, await pagesOf(app, query, 4)]).toEqual([query, { ids, total: ids.length }])
    }
    for (const status of ['PROCESSING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REVERSED']) {
      expect(newestFirst.map((row) => row.status)).toContain(status)
    }
    const path = `/api/customers/transactions/by_customer_id/${person}`
    const { body } = await app.rest('GET', `${path}?limit=100`)
    const own = newestFirst.filter(({ customerId }) => customerId === person)
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(own.map(({ id }) => id))
    for (const row of body.data) expect(Object.keys(row)).toEqual(['merchant_id', ...members])
    expect(body.data[0].merchant_id).toBe(app.merchant.id)
    expect((await app.rest('GET', path)).body.pagination.limit).toBe(20)
    expect((await app.rest('GET', '/api/transactions')).body.pagination.limit).toBe(10)
  })

  test('are found by complete or partial transaction id, by UUID and by reference (rulings 132 to 134)', async () => {
    const { app, newestFirst } = await startWithTransactions(engine)
    const { body: all } = await app.rest('GET', `${path}?limit=100`)
    for (const row of all.data.slice(0, 12)) {
      const found = `/api/customers/transactions`
      for (const id of [row.transaction_id, row.transaction_id.toLowerCase(), row.id]) {
        const { status, body } = await app.rest('GET', `${found}/by_txid/${id}`)
        expect([status, body.data]).toEqual([200, row])
      }
      const byReference = await app.rest('GET', `${found}/by_ref_id/${row.reference_id}`)
      expect(byReference.body).toEqual({ status: 'success', data: [row] })
      for (const query of [`transaction_id=${row.transaction_id}`, `search=${row.transaction_id}`]) {
        const { body } = await app.rest('GET', `${path}?${query}`)
        expect([query, body.data]).toEqual([query, [row]])
        const other = row.transaction_type === 'PAYOUT' ? 'DEPOSIT' : 'PAYOUT'
        const { body: none } = await app.rest('GET', `${path}?${query}&transaction_type=${other}`)
        expect([query, none.data]).toEqual([query, []])
      }
      const part = row.transaction_id.slice(3, 6)
      const both = await app.rest('GET', `${path}?transaction_id=${row.transaction_id}&search=${part.toLowerCase()}`)
      expect(both.body.data).toEqual([row])
      const { body } = await app.rest('GET', `${path}?search=${part.toLowerCase()}&limit=100`)
      expect(body.data).toEqual(all.data.filter((each: typeof row) => each.transaction_id.includes(part)))
    }
    expect(newestFirst).toHaveLength(all.data.length)
    const deposit = await app.rest('GET', '/api/customers/transactions/by_ref_id/bank%201')
    expect(deposit.body.data).toMatchObject([{ transaction_type: 'DEPOSIT', status: 'REVERSED' }])
    // PostgreSQL rejects a query with a NUL character.
    for (const absent of ['bank%00', 'bank%2099'])
      expect((await app.rest('GET', `/api/customers/transactions/by_ref_id/${absent}`)).status).toBe(404)
    const { body: none } = await app.rest('GET', `${path}?transaction_id=AAAAAAAAAA&search=B`)
    expect(none.pagination.total).toBe(0)
  })

  test('contain the network and transaction hash of a deposit from a blockchain', async () => {
    const app = await startApp(engine, { rails: [nodeRail] })
    const walletId = await app.wallet({ network: 'polygon' })
    const ref = await refOf(app, walletId)
    await postReport(app, { deposits: [sampleReport(ref, { network: 'polygon', confirmations: 999_999 })] })
    await new Promise((resolve) => setImmediate(resolve))
    const { body } = await app.rest('GET', path)
    expect(body.data).toMatchObject([
      {
        ...{ receiver_wallet_id: walletId, sender_wallet_id: null, network: 'polygon', asset_code: 'usdc' },
        ...{ crypto_transaction_id: hashOf('one'), balance: '10.00000000', status: 'COMPLETED', reason: null },
      },
    ])
    const byHash = await app.rest('GET', `/api/customers/transactions/by_ref_id/${body.data[0].reference_id}`)
    expect(byHash.body.data).toEqual(body.data)
  })

  test('in a list for a customer’s token belong to that customer, with and without filters', async () => {
    const { app, owners, newestFirst } = await startWithTransactions(engine)
    const [, person, other] = owners
    const token = await tokenFor(app, person as string)
    const own = newestFirst.filter(({ customerId }) => customerId === person)
    const ask = async (url: string) => (await app.rest('GET', url, bearerOptions(token))).body
    for (const query of ['', `customer_id=${person}`]) {
      const { data, pagination } = await ask(`${path}?limit=100&${query}`)
      expect(data.map(({ id }: { id: string }) => id)).toEqual(own.map(({ id }) => id))
      expect(pagination.total).toBe(own.length)
    }
    for (const query of [`customer_id=${other}`, 'customer_id=null', 'status=REVERSED', 'currency=USDT', 'search=A']) {
      const { data, pagination } = await ask(`${path}?limit=100&${query}`)
      const ids = data.map(({ id }: { id: string }) => id)
      expect([query, ids.filter((id: string) => !own.some((row) => row.id === id))]).toEqual([query, []])
      expect(pagination.total).toBe(ids.length)
      if (query.startsWith('customer_id')) expect([query, ids]).toEqual([query, []])
    }
  })

  test('of concurrent payouts and deposits are in the order of their times, and pass the audit', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1000' })
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        i % 3 === 0
          ? depositToWallet(app.context(), { walletId, amount: '1', reference: `${i}` })
          : perform(createPayout, app.context(), { ...nigerian, assetCode: 'USDC', amount: '1' }),
      ),
    )
    const { ids, total } = await pagesOf(app, '', 7)
    expect([ids.length, new Set(ids).size, total]).toEqual([61, 61, 61])
    const { body } = await app.rest('GET', `${path}?limit=100`)
    const times = body.data.map((row: { created_at: string }) => row.created_at)
    expect(times).toEqual(times.toSorted().toReversed())
    await app.expectBooksToBalance()
  })
})
