import { describe, expect, test } from 'vitest'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { transfersWithWrongCause } from '../../../src/modules/audit/repository.ts'
import { reportDeposit } from '../../../src/modules/deposits/report-deposit.ts'
import { importWallets } from '../../../src/modules/imports/import-wallets.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { tamperWith } from '../../support/stored.ts'
import { hashOf, refOf } from '../deposits/support/node.ts'

/**
 * Books with every kind of row: two wallets with deposits and fees, a reversed deposit, an imported wallet, a payout in
 * each status, two payout methods.
 */
async function startBusyApp(engine: (typeof everyEngine)[number]) {
  const app = await startApp(engine)
  await app.fee('0.5')
  const customerId = await app.customer()
  const walletId = await app.wallet({ balance: '100' })
  const ref = await refOf(app, await app.wallet({ assetCode: 'USDT', customerId, network: 'erc20' }))
  const chainDeposit = {
    ref,
    network: 'erc20',
    txHash: hashOf('one'),
    logIndex: 0,
    asset: 'USDT',
    amount: '7',
  } as const
  await reportDeposit(app.context(), { ...chainDeposit, rail: 'node', confirmations: 64, state: 'CONFIRMED' })
  for (const statuses of [[], ['COMPLETED'], ['FAILED'], ['COMPLETED', 'RETURNED']] as const) {
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      // An account that the sandbox bank accepts.
      body: { ...payoutBody, amount: '2', account_number: '9999999900' },
      headers: { 'idempotency-key': `key ${statuses.join()}` },
    })
    for (const status of statuses) await settlePayout(app.context(), { payoutId: body.data.id, status, override: true })
  }
  for (let i = 0; i < 2; i++) {
    await app.rest('POST', '/api/payout/methods/banks', {
      body: {
        type: 'BANK',
        account_name: 'Ada Obi',
        account_number: '0690000031',
        bank_name: 'Access Bank',
        currency: 'NGN',
        bank_code: '044',
        customer_id: customerId,
      },
    })
  }
  await depositToWallet(app.context(), { walletId, amount: '3', reference: 'deadbeef' })
  await reverseDeposit(app.context(), { reference: 'deadbeef', reason: 'mistyped' })
  await importWallets(
    app.context(),
    [
      {
        ...{ id: '6d1f0000-0000-4000-8000-000000000001', customerId, assetType: 'STABLECOIN', currency: 'USDT' },
        ...{ description: 'Imported', status: 'active', balance: 9_0000_0000n, addresses: [] },
        ...{ createdAt: '2020-01-05T09:00:00.000Z', updatedAt: '2020-01-05T09:00:00.000Z' },
      },
    ],
    { isDryRun: false },
  )
  return { ...app, walletId, customerId }
}

const firstTransferOf = (kind: string) => `id in (select id from transfers where kind = '${kind}' order by id limit 1)`
const firstAccountId = `(select id from accounts order by id limit 1)`
const payoutWithStatus = (status: string) => `id in (select id from payouts where status = '${status}' limit 1)`

const firstEventOf = (type: string) => `sequence in (select min(sequence) from events where type = '${type}')`

// Each row: the check that must report the contradiction, the tampering, and its statements.
const cases: [check: string, tampering: string, statements: string[]][] = [
  [
    'every payout, deposit, wallet and customer has its events',
    'a payout without its event',
    [
      `update events set type = 'customer.updated' where type = 'payout.initiated' and ${firstEventOf('payout.initiated')}`,
    ],
  ],
  [
    'every payout, deposit, wallet and customer has its events',
    'an event without its change',
    [`update events set type = 'payout.failed' where ${firstEventOf('payout.completed')}`],
  ],
  [
    'every payout, deposit, wallet and customer has its events',
    'a deposit event of another wallet',
    [`update events set object_id = merchant_id where ${firstEventOf('wallet.transaction.inbound')}`],
  ],
  [
    'the events of each object are numbered without a gap',
    'an event version that is too high',
    [`update events set version = 2 where ${firstEventOf('payout_method.created')}`],
  ],
  [
    'the events of each object are numbered without a gap',
    'a payout method whose event belongs to another object',
    [`update events set object_id = merchant_id where ${firstEventOf('payout_method.created')}`],
  ],
  [
    'every payout matches the state of its rail order',
    'a rejected order whose payout is completed',
    [`update payout_transfers set state = 'REJECTED' where state = 'COMPLETED'`],
  ],
  [
    'every payout matches the state of its rail order',
    'an order of another payout',
    [`update payout_transfers set payout_id = merchant_id where state = 'QUEUED'`],
  ],
  [
    'every opening balance belongs to an imported wallet',
    'an opening balance that differs from the amount in the event of the wallet',
    [`update transfers set amount = amount + 1, balance_after = balance_after + 1 where kind = 'opening'`],
  ],
  [
    'every opening balance belongs to an imported wallet',
    'an opening balance without an import',
    [`update transfers set reference = 'import:other' where kind = 'opening'`],
  ],
  [
    'every opening balance belongs to an imported wallet',
    'a deposit that was changed to an opening balance',
    [`update transfers set kind = 'opening' where ${firstTransferOf('deposit')}`],
  ],
  ['sequence numbers have no gaps', 'a deleted event', ['delete from events where sequence = 2']],
  [
    'every transfer has the fields that its kind requires',
    'a deposit with a fee',
    [`update transfers set fee = 1, amount = amount - 1 where ${firstTransferOf('deposit')}`],
  ],
  [
    'every transfer has the fields that its kind requires',
    'a fee below zero',
    [`update transfers set fee = -1, amount = amount + fee + 1 where ${firstTransferOf('payout')}`],
  ],
  [
    'every transfer has the fields that its kind requires',
    'a transfer of amount 0',
    [`update transfers set amount = 0 where ${firstTransferOf('payout_completed')}`],
  ],
  [
    'every transfer has the fields that its kind requires',
    'a settlement with a statement number',
    [`update transfers set sequence = 1, balance_after = 1 where ${firstTransferOf('payout_completed')}`],
  ],
  [
    'every transfer has the fields that its kind requires',
    'a payout without a statement number',
    [`update transfers set wallet_id = null, sequence = null, balance_after = null where ${firstTransferOf('payout')}`],
  ],
  [
    'every transfer has the asset of its wallet',
    'a transfer of another asset',
    [`update transfers set asset_code = 'USDT' where ${firstTransferOf('payout')}`],
  ],
  [
    'every transfer has the asset of its wallet',
    'a wallet account of another asset',
    [`update accounts set asset_code = 'ZAR'`],
  ],
  [
    'every transfer has the asset of its wallet',
    'a deleted wallet account',
    [`delete from accounts where id = ${firstAccountId}`],
  ],
  [
    'every balance equals the sum of its ledger entries',
    'a balance one unit too high',
    [`update accounts set balance = balance + 1 where id = ${firstAccountId}`],
  ],
  [
    'every balance equals the sum of its ledger entries',
    'a balance without entries',
    [`delete from transfers where cast(wallet_id as text) = ${firstAccountId}`],
  ],
  [
    'every balance equals the sum of its ledger entries',
    'a balance of the largest 64-bit integer',
    [`update accounts set balance = 9223372036854775807 where id = ${firstAccountId}`],
  ],
  [
    'every balance equals the sum of its ledger entries',
    'an entry count that is one too high',
    [`update accounts set entry_count = entry_count + 1 where id = ${firstAccountId}`],
  ],
  [
    'every balance equals the sum of its ledger entries',
    'a statement with a gap',
    [`update transfers set sequence = sequence + 1 where sequence = (select max(sequence) from transfers)`],
  ],
  [
    'every running balance equals the sum of the entries so far',
    'a balance after an entry one unit too low',
    [`update transfers set balance_after = balance_after - 1 where sequence = 2`],
  ],
  [
    'every wallet has the correct total of its deposits',
    'a reachable balance one unit too high',
    [`update accounts set reachable_balance = reachable_balance + 1 where id = ${firstAccountId}`],
  ],
  [
    'every payout has a debit of its wallet',
    'a payout of a smaller amount',
    [`update payouts set amount = amount - 1 where ${payoutWithStatus('FAILED')}`],
  ],
  [
    'every payout has a debit of its wallet',
    'a payout without its fee',
    [`update payouts set fee = null where ${payoutWithStatus('FAILED')}`],
  ],
  [
    'every payout has a debit of its wallet',
    'a payout with a wrong balance after it',
    [`update payouts set balance_after = balance_after + 1 where ${payoutWithStatus('PROCESSING')}`],
  ],
  [
    'every payout has a debit of its wallet',
    'a payout from another wallet',
    [
      `update payouts set wallet_id = (select id from wallets where currency = 'USDT' and sequence = 2) where ${payoutWithStatus('PROCESSING')}`,
    ],
  ],
  [
    'every payout has a debit of its wallet',
    "a payout with another payout's transfer",
    [
      `update payouts set transfer_id = (select transfer_id from payouts where status = 'FAILED') where ${payoutWithStatus('COMPLETED')}`,
    ],
  ],
  [
    'every payout has a debit of its wallet',
    'a fee that was posted as amount',
    [`update transfers set amount = amount + fee, fee = 0 where ${firstTransferOf('payout')}`],
  ],
  [
    'every completed payout has a settlement transfer',
    'a settlement of another amount',
    [`update transfers set amount = amount - 1 where ${firstTransferOf('payout_completed')}`],
  ],
  [
    'every completed payout has a settlement transfer',
    'a settlement of another asset',
    [`update transfers set asset_code = 'USDT' where ${firstTransferOf('payout_completed')}`],
  ],
  [
    'every completed payout has a settlement transfer',
    'a settlement with the transfer of the debit',
    [
      `update payout_events set transfer_id = (select transfer_id from payouts p where p.id = payout_id) where status = 'COMPLETED'`,
    ],
  ],
  [
    'every failed or returned payout has a refund transfer',
    'a refund to another wallet',
    [
      `update transfers set wallet_id = (select id from wallets where currency = 'USDT' and sequence = 2) where ${firstTransferOf('payout_failed')}`,
    ],
  ],
  [
    'every failed or returned payout has a refund transfer',
    'a refund one unit too low',
    [`update transfers set amount = amount - 1 where ${firstTransferOf('payout_returned')}`],
  ],
  [
    'every failed or returned payout has a refund transfer',
    'a refund without the fee',
    [`update transfers set fee = 0 where ${firstTransferOf('payout_failed')}`],
  ],
  [
    'every failed or returned payout has a refund transfer',
    'a return that was posted as a failure',
    [`update transfers set kind = 'payout_failed' where ${firstTransferOf('payout_returned')}`],
  ],
  [
    'every failed or returned payout has a refund transfer',
    'a refund with the transfer of the debit',
    [
      `update payout_events set transfer_id = (select transfer_id from payouts p where p.id = payout_id) where status = 'FAILED'`,
    ],
  ],
  [
    'every credited blockchain transfer has its deposit',
    'a transfer of another amount than its deposit',
    ['update chain_deposits set amount = amount + 1'],
  ],
  [
    'every credited blockchain transfer has its deposit',
    'a transfer without its chain event',
    ['delete from chain_events'],
  ],
  [
    'every deposit reversal has a debit of its wallet',
    'a reversal of a larger amount',
    ['update deposit_reversals set amount = amount + 1'],
  ],
  [
    'every deposit reversal has a debit of its wallet',
    'a reversal of a deleted deposit',
    [`delete from deposits where reference = 'deadbeef'`],
  ],
  [
    'every deposit has a credit of its wallet',
    'a deposit of a larger amount',
    [`update deposits set amount = amount + 1`],
  ],
  [
    'every deposit has a credit of its wallet',
    'a deposit to another wallet',
    [
      `update deposits set wallet_id = (select id from wallets where currency = 'USDT' and sequence = 2) where amount = 10000000000`,
    ],
  ],
  [
    'every deposit has a credit of its wallet',
    'a deposit of another asset',
    [`update deposits set asset_code = 'USDT' where asset_code = 'USDC'`],
  ],
  [
    'every deposit has a credit of its wallet',
    'a deposit with a wrong balance after it',
    [`update deposits set balance_after = 0`],
  ],
  [
    'every ledger transfer has a payout or deposit',
    'a deleted deposit',
    [`delete from deposits where amount = 10000000000`],
  ],
  [
    'every ledger transfer has a payout or deposit',
    'a deleted payout',
    [`delete from payouts where ${payoutWithStatus('PROCESSING')}`],
  ],
  [
    'every ledger transfer has a payout or deposit',
    'a deleted payout event',
    [`delete from payout_events where status = 'RETURNED'`],
  ],
  [
    'every ledger transfer refers to its own payout or deposit',
    'a payout transfer without its payout id',
    [`update transfers set payout_id = null where kind = 'payout'`],
  ],
  [
    'every ledger transfer refers to its own payout or deposit',
    'a settlement with the id of another payout',
    [
      `update transfers set payout_id = (select id from payouts where status = 'PROCESSING') where kind = 'payout_completed'`,
    ],
  ],
  [
    'every ledger transfer refers to its own payout or deposit',
    'a refund without its payout id',
    [`update transfers set payout_id = null where kind = 'payout_returned'`],
  ],
  [
    'every ledger transfer refers to its own payout or deposit',
    'a deposit transfer with another reference',
    [`update transfers set reference = 'other' where kind = 'deposit'`],
  ],
  [
    'every ledger transfer refers to its own payout or deposit',
    'a deposit transfer with a payout id',
    [`update transfers set payout_id = (select id from payouts limit 1) where kind = 'deposit'`],
  ],
  [
    'every payout has the events of its status',
    'a status changed to COMPLETED without an event',
    [`update payouts set status = 'COMPLETED' where ${payoutWithStatus('PROCESSING')}`],
  ],
  [
    'every payout has the events of its status',
    'a status changed back to PROCESSING',
    [`update payouts set status = 'PROCESSING' where ${payoutWithStatus('COMPLETED')}`],
  ],
  [
    'every payout has the events of its status',
    'a failed payout with the status RETURNED',
    [`update payouts set status = 'RETURNED' where ${payoutWithStatus('FAILED')}`],
  ],
  [
    'every payout has the events of its status',
    'a return event with the status FAILED',
    [`update payout_events set status = 'FAILED' where status = 'RETURNED'`],
  ],
  [
    'every payout has the events of its status',
    'a deleted payout event',
    [`delete from payout_events where payout_id in (select id from payouts where status = 'COMPLETED')`],
  ],
  [
    'clearing accounts match the payouts and deposits',
    'a payout of another asset',
    [`update payouts set asset_code = 'USDT' where ${payoutWithStatus('PROCESSING')}`],
  ],
  [
    'clearing accounts match the payouts and deposits',
    'a completed payout of another amount and fee',
    [`update payouts set amount = amount + 1, fee = fee - 1 where ${payoutWithStatus('COMPLETED')}`],
  ],
  [
    'clearing accounts match the payouts and deposits',
    'a fee one unit too high',
    [`update transfers set fee = fee + 1, amount = amount - 1 where ${firstTransferOf('payout')}`],
  ],
  [
    'sequence numbers have no gaps',
    'a payout with another sequence number',
    [`update payouts set sequence = sequence + 100 where ${payoutWithStatus('RETURNED')}`],
  ],
  [
    'sequence numbers have no gaps',
    'a deleted payout',
    [`delete from payouts where ${payoutWithStatus('PROCESSING')}`],
  ],
  [
    'sequence numbers have no gaps',
    'a sequence number without a row',
    [`update sequences set latest = latest + 1 where name = 'customers'`],
  ],
  [
    'sequence numbers have no gaps',
    'a deposit with another sequence number',
    [`update deposits set sequence = 9 where sequence = 1`],
  ],
  ['sequence numbers have no gaps', 'a deleted sequence', [`delete from sequences where name = 'wallets'`]],
  [
    'stored counts of lists are correct',
    'a total that is one too high',
    [`update list_counts set row_count = row_count + 1 where list like 'wallets/owner:%' and block_size = 0`],
  ],
  [
    'stored counts of lists are correct',
    'a block count that is one too low',
    [
      `update list_counts set row_count = row_count - 1 where list like 'payout_methods/owner:%/type:BANK' and block_size > 0`,
    ],
  ],
  ['stored counts of lists are correct', 'a deleted count', [`delete from list_counts where list = 'payout_methods'`]],
  ['stored counts of lists are correct', 'a deleted payout method', [`delete from payout_methods where sequence = 1`]],
  [
    'the database finds no damage in its files',
    'a payout of an unknown customer',
    [`update payouts set customer_id = '00000000-0000-7000-8000-000000000000' where ${payoutWithStatus('FAILED')}`],
  ],
  ['the schema matches the migrations', 'a dropped unique index', ['drop index payouts_by_idempotency_key']],
  [
    'no unique column has a duplicate value',
    'a duplicate idempotency key',
    ['drop index payouts_by_idempotency_key', `update payouts set idempotency_key = 'the same'`],
  ],
  [
    'no unique column has a duplicate value',
    'a duplicate sequence number',
    ['drop index payouts_by_sequence', `update payouts set sequence = 1 where sequence = 2`],
  ],
  [
    'every payout matches its checksum',
    'a changed account number',
    [`update payouts set account_number = '1' || substr(account_number, 2) where ${payoutWithStatus('COMPLETED')}`],
  ],
  [
    'every payout matches its checksum',
    'a changed narration',
    [`update payouts set narration = 'x' where ${payoutWithStatus('PROCESSING')}`],
  ],
  [
    'every payout matches its checksum',
    'a changed account number of a payout without a checksum',
    [`update payouts set checksum = null`, `update payouts set account_number = '0000014570' where sequence = 4`],
  ],
  [
    'payout statistics match the payouts',
    'a count of payouts that no event reports',
    [
      `insert into payout_statistics select id, '2026-03-01', 'USDC', 'NGN', 'PROCESSING', 0, 1, 1, 0, 0, 0 from merchants`,
    ],
  ],
  [
    'payout statistics match the payouts',
    'events that are wrongly marked as counted',
    [`insert into statistics_cursors select merchant_id, latest from sequences where name = 'events'`],
  ],
  [
    'daily balance changes match the ledger',
    'a change on a day without transfers',
    [`insert into daily_balance_changes select id, '2026-02-28', 'USDC', 0, 1 from merchants`],
  ],
  [
    'daily balance changes match the ledger',
    'transfers that are wrongly marked as counted',
    [`insert into statistics_cursors select merchant_id, latest from sequences where name = 'events'`],
  ],
  [
    'search keys match the customers',
    'a customer without the search key of the phone number',
    [`delete from customer_search_keys where kind = 'phone'`],
  ],
  [
    'search keys match the customers',
    'a customer with a search key of another name',
    [`insert into customer_search_keys select merchant_id, 'name', 'zik', id from customers`],
  ],
  [
    'search keys match the customers',
    'a changed e-mail address with the search key of the old address',
    [`update customers set email = 'changed@example.com'`],
  ],
]

describe.each(everyEngine)('the audit of the books on %s', (engine) => {
  test('finds no contradiction in untouched books and returns their totals', async () => {
    const app = await startBusyApp(engine)
    const checked: string[] = []

    const onProgress = (check: string, doneCount: number, count: number) =>
      void (doneCount < count && checked.push(check))
    const { findings, ...summary } = await auditBooks(app.service, onProgress)

    expect(findings.map(({ contradictions }) => contradictions)).toEqual(findings.map(() => 0))
    expect(findings.map(({ check }) => check)).toEqual(checked)
    // Two payouts of 2 with a fee of 0.5 left the wallet, two were refunded.
    expect(summary).toEqual({
      balanced: true,
      unchecked: null,
      wallets: { USDC: '95.00000000', USDT: '16.00000000' },
      transfers: 1 + 4 + 4 + 4,
      entries: 5 * 2 + 4 * 3 + (2 + 3 + 2 + 3),
      payouts: 4,
    })
    expect(new Set(cases.map(([check]) => check))).toEqual(new Set(checked))
  })

  test.each(cases)('the check «%s» reports %s', async (check, _, statements) => {
    const app = await startBusyApp(engine)
    await tamperWith(app, ...statements)

    const { balanced, findings } = await auditBooks(app.service)

    expect(balanced).toBe(false)
    const finding = findings.find((each) => each.check === check)
    expect(finding?.contradictions).toBeGreaterThan(0)
    expect(finding?.examples[0]).toMatch(/[0-9a-f-]{8}|refers to|is missing/)
  })

  test('transfersWithWrongCause returns each deposit transfer whose reference differs from the reference of the deposit', async () => {
    const app = await startBusyApp(engine)
    await tamperWith(app, `update transfers set reference = 'other' where kind = 'deposit'`)

    expect(await transfersWithWrongCause(app.db, {})).toHaveLength(3)
  })

  test('accepts a payout without a checksum if its row matches the fingerprint of its request', async () => {
    const app = await startBusyApp(engine)
    await tamperWith(app, `update payouts set checksum = null`)
    expect(await auditBooks(app.service)).toMatchObject({ balanced: true })
  })

  test('returns the exact sum of balances even if it exceeds 64 bits', async () => {
    const app = await startBusyApp(engine)
    await tamperWith(app, `update accounts set balance = 9223372036854775807`)
    await tamperWith(app, `update accounts set asset_code = 'USDC'`)
    const { wallets } = await auditBooks(app.service)
    expect(wallets).toEqual({ USDC: '276701161105.64327421' })
  })
})

// Earlier versions limited the balance of a wallet, but not the sum of its deposits.
test.each(everyEngine)(
  'on %s, the audit accepts a wallet even if the sum of its deposits exceeds the maximum amount',
  async (engine) => {
    const app = await startApp(engine)
    const id = await app.wallet({ balance: '1' })
    const deposits = Array.from(
      { length: 12 },
      (_, i) => `insert into deposits (merchant_id, reference, wallet_id, transfer_id, amount, balance_after,
        created_at, sequence, transaction_number, asset_code)
      select merchant_id, 'more ${i}', wallet_id, transfer_id, 999999999999999999, balance_after, created_at,
        ${i} + 2, ${i} + 2, asset_code
      from deposits where wallet_id = '${id}' and reference not like 'more%'`,
    )
    const contradictingWallets = async () => {
      const { findings } = await auditBooks(app.service)
      return findings.find(({ check }) => check === 'every wallet has the correct total of its deposits')?.examples
    }

    await tamperWith(
      app,
      'drop index deposits_by_transfer',
      ...deposits,
      `update accounts set reachable_balance = 9223372036854775807 where id = '${id}'`,
    )
    expect(await contradictingWallets()).toEqual([])
    await tamperWith(app, `update accounts set reachable_balance = 9223372036799999999 where id = '${id}'`)
    expect(await contradictingWallets()).toEqual([id])
  },
)
