import { describe, expect, test } from 'vitest'
import { auditChain } from '../../../src/modules/audit/audit.ts'
import { resolveDeposit } from '../../../src/modules/deposits/resolve-deposit.ts'
import { listEvents } from '../../../src/modules/events/list-events.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { camtFaults } from '../../support/camt-schema.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import { hashOf, nodeRail, postReport, refOf, sampleReport } from '../deposits/support/node.ts'
import { nigerian } from '../payouts/payout-places.ts'

const reason = 'a zero too many'

const balanceOf = async (app: App, walletId: string) => (await getWallet(app.context(), { walletId })).balance

describe.each(everyEngine)('reverseDeposit on %s', (engine) => {
  test('debits the deposit from its wallet, and balance, entries, events and exports show the reversal', async () => {
    let time = Date.parse('2026-01-01T00:00:00.000Z')
    // An export ends before the time of the request.
    const app = await startApp(engine, { clock: () => ++time })
    const walletId = await app.wallet({ balance: '5' })
    await depositToWallet(app.context(), { walletId, amount: '1000000', reference: 'bank 7' })

    const reversal = await reverseDeposit(app.context(), { reference: ' bank 7 ', reason: 'a zero\ntoo many' })

    expect(reversal).toMatchObject({ walletId, reference: 'bank 7', reason, balanceAfter: 500_000_000n })
    expect(await balanceOf(app, walletId)).toBe(500_000_000n)
    const { items } = await listEvents(app.context(), { types: ['deposit.reversed'] })
    expect(items).toMatchObject([
      { objectId: reversal.transferId, version: 1, object: { type: 'deposit_reversal', row: { reason, walletId } } },
    ])
    const { data } = await app.graphql(
      `query ($id: ID!) {
        wallet(id: $id) { balance entries: ledgerEntries(first: 1, filter: { direction: DEBIT }) { totalCount nodes {
          kind direction amount balanceAfter reference } } }
        events(filter: { types: [DEPOSIT_REVERSED] }) { nodes { type data wallet { balance } } }
      }`,
      { id: walletId },
    )
    expect(data.wallet).toEqual({
      balance: '5.00000000',
      entries: {
        totalCount: 1,
        nodes: [
          {
            ...{ kind: 'DEPOSIT_REVERSAL', direction: 'DEBIT', amount: '1000000.00000000' },
            ...{ balanceAfter: '5.00000000', reference: 'bank 7' },
          },
        ],
      },
    })
    expect(data.events.nodes).toMatchObject([
      { type: 'DEPOSIT_REVERSED', data: { reference: 'bank 7', reason }, wallet: { balance: '5.00000000' } },
    ])
    const feed = await app.rest('GET', '/api/events?types=deposit.reversed')
    expect(feed.body.data[0].data).toMatchObject({ amount: '1000000.00000000', balance: '5.00000000', reason })
    const statement = await app.rest('GET', `/api/wallets/${walletId}/statement?format=csv`)
    expect(statement.body).toMatch(/deposit_reversal,debit,USDC,-1000000.00000000,5.00000000/)
    const camt = await app.rest('GET', `/api/wallets/${walletId}/statement?format=camt053`)
    expect(camt.body).toContain('<CdtDbtInd>DBIT</CdtDbtInd><RvslInd>true</RvslInd>')
    expect(await camtFaults(camt.body)).toEqual([])
    const deposits = await app.rest('GET', '/api/exports/deposits?format=csv')
    expect(deposits.body).toMatch(/USDC,-1000000.00000000,5.00000000,bank 7,deposit_reversal/)
    await app.expectBooksToBalance()
    expect((await auditChain(app.service, {})).balanced).toBe(true)
  })

  test('reverses a deposit once for eight concurrent calls, and the reference cannot be used again', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const deposit = { walletId, amount: '10', reference: 'bank 7' }
    await depositToWallet(app.context(), { ...deposit, reference: 'bank 6', amount: '100' })
    await depositToWallet(app.context(), deposit)
    const reverse = () => reverseDeposit(app.context(), { reference: 'bank 7', reason })
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, reverse))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await balanceOf(app, walletId)).toBe(10_000_000_000n)
    const before = await readStoredRows(app)
    expect((await domainErrorOf(reverse)).details.fields).toMatchObject([
      { field: 'reference', message: expect.stringContaining('was not reversed yet') },
    ])
    expect(await domainErrorOf(() => depositToWallet(app.context(), deposit))).toMatchObject({
      code: 'DEPOSIT_REFERENCE_REUSED',
    })
    expect(await readStoredRows(app)).toEqual(before)
    await app.expectBooksToBalance()
  })

  test('rejects a reversal that exceeds the balance, and reports both amounts', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    await depositToWallet(app.context(), { walletId, amount: '20', reference: 'bank 7' })
    const payout = await perform(createPayout, app.context(), { assetCode: 'USDC', amount: '10', ...nigerian })
    const before = await readStoredRows(app)
    const reverse = () => reverseDeposit(app.context(), { reference: 'bank 7', reason })
    expect(await domainErrorOf(reverse)).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      details: { available: 1_000_000_000n, required: 2_000_000_000n },
    })
    expect(await readStoredRows(app)).toEqual(before)
    await settlePayout(app.context(), { payoutId: payout.id, status: 'FAILED', override: true })
    await reverse()
    expect(await balanceOf(app, walletId)).toBe(0n)
    await app.expectBooksToBalance()
  })

  test('rejects an unknown reference, a reference of another merchant, and an empty reason, and writes nothing', async () => {
    const app = await startApp(engine)
    const other = createContext(app.service, (await app.otherMerchant()).id)
    const walletId = await app.wallet({ balance: '5' })
    await depositToWallet(app.context(), { walletId, amount: '1', reference: 'bank 7' })
    const before = await readStoredRows(app)
    const codes = [
      await domainErrorOf(() => reverseDeposit(app.context(), { reference: 'bank 8', reason })),
      await domainErrorOf(() => reverseDeposit(other, { reference: 'bank 7', reason })),
      await domainErrorOf(() => reverseDeposit(app.context(), { reference: 'bank 7', reason: ' ' })),
    ].map(({ code }) => code)
    expect(codes).toEqual(['RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND', 'INVALID_INPUT'])
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('allows another deposit to a wallet that was at its deposit limit', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const maxDeposit = '9999999999.99999999'
    for (let i = 0; i < 9; i++)
      await depositToWallet(app.context(), { walletId, amount: maxDeposit, reference: `${i}` })
    const depositMore = () => depositToWallet(app.context(), { walletId, amount: maxDeposit, reference: 'more' })
    expect(await domainErrorOf(depositMore)).toMatchObject({ code: 'BALANCE_LIMIT_EXCEEDED' })
    await reverseDeposit(app.context(), { reference: '3', reason })
    await depositMore()
    await app.expectBooksToBalance()
  })

  test('makes resolveDeposit reject every action except `dismiss` if a reorg also removed the deposit', async () => {
    const app = await startApp(engine, { rails: [nodeRail] })
    const walletId = await app.wallet({ network: 'erc20' })
    const depositReport = sampleReport(await refOf(app, walletId))
    await postReport(app, { ...depositReport, confirmations: 64 })
    await postReport(app, { ...depositReport, state: 'REORGED' })
    const reference = `erc20:${hashOf('one')}:0`
    await reverseDeposit(app.context(), { reference, reason })
    const credit = () => resolveDeposit(app.service, { reference, action: 'credit', reason })
    expect((await domainErrorOf(credit)).details.fields).toMatchObject([
      { field: 'action', message: 'must be dismiss: the deposit was reversed' },
    ])
    await resolveDeposit(app.service, { reference, action: 'dismiss', reason })
    expect(await balanceOf(app, walletId)).toBe(0n)
    await app.expectBooksToBalance()
  })
})
