import { describe, expect, test } from 'vitest'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { transfersWithWrongCause } from '../../../src/modules/audit/repository.ts'
import { reportDeposit } from '../../../src/modules/deposits/report-deposit.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { tamperWith } from '../../support/stored.ts'
import { hashOf, refOf } from '../deposits/support/node.ts'

/**
 * Books with one of everything: two wallets with deposits and fees, a deposit that was reversed, a payout in each status, two
 * payout methods of a customer.
 */
async function startBusyApp(engine: (typeof everyEngine)[number]) {
  const app = await startApp(engine)
  await app.fee('0.5')
  const customerId = await app.customer()
  const walletId = await app.wallet({ balance: '100' })
  // What is in it came from a chain.
  const ref = await refOf(app, await app.wallet({ assetCode: 'USDT', customerId, network: 'erc20' }))
  const seen = { ref, network: 'erc20', txHash: hashOf('one'), logIndex: 0, asset: 'USDT', amount: '7' } as const
  await reportDeposit(app.context(), { ...seen, rail: 'node', confirmations: 64, state: 'CONFIRMED' })
  for (const statuses of [[], ['COMPLETED'], ['FAILED'], ['COMPLETED', 'RETURNED']] as const) {
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      // An account that the bank of the sandbox knows.
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
  return { ...app, walletId, customerId }
}

const oneTransfer = (kind: string) => `id in (select id from transfers where kind = '${kind}' order by id limit 1)`
const wallet = `(select id from accounts order by id limit 1)`
const onePayout = (status: string) => `id in (select id from payouts where status = '${status}' limit 1)`

const oneEvent = (type: string) => `sequence in (select min(sequence) from events where type = '${type}')`

// What was done to the file behind the service's back, and which check must say so.
const cases: [check: string, done: string, statements: string[]][] = [
  [
    'everything that happened has its event',
    'a payout without its event',
    [`update events set type = 'customer.updated' where type = 'payout.initiated' and ${oneEvent('payout.initiated')}`],
  ],
  [
    'everything that happened has its event',
    'an event of what did not happen',
    [`update events set type = 'payout.failed' where ${oneEvent('payout.completed')}`],
  ],
  [
    'everything that happened has its event',
    'a deposit told of another wallet',
    [`update events set object_id = merchant_id where ${oneEvent('wallet.transaction.inbound')}`],
  ],
  [
    'the events of each object are numbered without a gap',
    'a version too high',
    [`update events set version = 2 where ${oneEvent('payout_method.created')}`],
  ],
  [
    'the events of each object are numbered without a gap',
    'a method whose event is of another',
    [`update events set object_id = merchant_id where ${oneEvent('payout_method.created')}`],
  ],
  [
    'every payout on a rail is what the bank made of it',
    'a rejected order whose payout is completed',
    [`update payout_transfers set state = 'REJECTED' where state = 'COMPLETED'`],
  ],
  [
    'every payout on a rail is what the bank made of it',
    'an order of another payout',
    [`update payout_transfers set payout_id = merchant_id where state = 'QUEUED'`],
  ],
  ['sequences are dense', 'an event that is gone', ['delete from events where sequence = 2']],
  [
    'every transfer has the form of its kind',
    'a deposit with a fee',
    [`update transfers set fee = 1, amount = amount - 1 where ${oneTransfer('deposit')}`],
  ],
  [
    'every transfer has the form of its kind',
    'a fee below zero',
    [`update transfers set fee = -1, amount = amount + fee + 1 where ${oneTransfer('payout')}`],
  ],
  [
    'every transfer has the form of its kind',
    'a transfer that moves nothing',
    [`update transfers set amount = 0 where ${oneTransfer('payout_completed')}`],
  ],
  [
    'every transfer has the form of its kind',
    'a settlement that is in a statement',
    [`update transfers set sequence = 1, balance_after = 1 where ${oneTransfer('payout_completed')}`],
  ],
  [
    'every transfer has the form of its kind',
    'a payout that is in no statement',
    [`update transfers set wallet_id = null, sequence = null, balance_after = null where ${oneTransfer('payout')}`],
  ],
  [
    'every transfer is of its wallet’s asset',
    'a transfer of another asset',
    [`update transfers set asset_code = 'USDT' where ${oneTransfer('payout')}`],
  ],
  [
    'every transfer is of its wallet’s asset',
    'a wallet account of another asset',
    [`update accounts set asset_code = 'ZAR'`],
  ],
  [
    'every transfer is of its wallet’s asset',
    'a wallet account that is gone',
    [`delete from accounts where id = ${wallet}`],
  ],
  [
    'every balance is the sum of its entries',
    'a balance that is larger by one unit',
    [`update accounts set balance = balance + 1 where id = ${wallet}`],
  ],
  [
    'every balance is the sum of its entries',
    'a balance of an account without entries',
    [`delete from transfers where cast(wallet_id as text) = ${wallet}`],
  ],
  [
    'every balance is the sum of its entries',
    'a balance beyond what a number holds',
    [`update accounts set balance = 9223372036854775807 where id = ${wallet}`],
  ],
  [
    'every balance is the sum of its entries',
    'a number of entries that is larger',
    [`update accounts set entry_count = entry_count + 1 where id = ${wallet}`],
  ],
  [
    'every balance is the sum of its entries',
    'a statement with a gap',
    [`update transfers set sequence = sequence + 1 where sequence = (select max(sequence) from transfers)`],
  ],
  [
    'every statement adds up line by line',
    'a balance after an entry that is smaller',
    [`update transfers set balance_after = balance_after - 1 where sequence = 2`],
  ],
  [
    'every wallet knows what was deposited in it',
    'a wallet that may come to hold more than that',
    [`update accounts set reachable_balance = reachable_balance + 1 where id = ${wallet}`],
  ],
  [
    'every payout was paid for',
    'a payout of a smaller amount',
    [`update payouts set amount = amount - 1 where ${onePayout('FAILED')}`],
  ],
  [
    'every payout was paid for',
    'a payout without its fee',
    [`update payouts set fee = null where ${onePayout('FAILED')}`],
  ],
  [
    'every payout was paid for',
    'a payout with another balance',
    [`update payouts set balance_after = balance_after + 1 where ${onePayout('PROCESSING')}`],
  ],
  [
    'every payout was paid for',
    'a payout from another wallet',
    [
      `update payouts set wallet_id = (select id from wallets where currency = 'USDT') where ${onePayout('PROCESSING')}`,
    ],
  ],
  [
    'every payout was paid for',
    "a payout of another payout's transfer",
    [
      `update payouts set transfer_id = (select transfer_id from payouts where status = 'FAILED') where ${onePayout('COMPLETED')}`,
    ],
  ],
  [
    'every payout was paid for',
    'a fee that was taken as the amount',
    [`update transfers set amount = amount + fee, fee = 0 where ${oneTransfer('payout')}`],
  ],
  [
    'every payout that was completed was settled',
    'a settlement of another amount',
    [`update transfers set amount = amount - 1 where ${oneTransfer('payout_completed')}`],
  ],
  [
    'every payout that was completed was settled',
    'a settlement of another asset',
    [`update transfers set asset_code = 'USDT' where ${oneTransfer('payout_completed')}`],
  ],
  [
    'every payout that was completed was settled',
    'a settlement that names the debit',
    [
      `update payout_events set transfer_id = (select transfer_id from payouts p where p.id = payout_id) where status = 'COMPLETED'`,
    ],
  ],
  [
    'every payout that failed or came back was paid back',
    'a refund to another wallet',
    [
      `update transfers set wallet_id = (select id from wallets where currency = 'USDT') where ${oneTransfer('payout_failed')}`,
    ],
  ],
  [
    'every payout that failed or came back was paid back',
    'a refund of one unit less',
    [`update transfers set amount = amount - 1 where ${oneTransfer('payout_returned')}`],
  ],
  [
    'every payout that failed or came back was paid back',
    'a refund without the fee',
    [`update transfers set fee = 0 where ${oneTransfer('payout_failed')}`],
  ],
  [
    'every payout that failed or came back was paid back',
    'a return that was posted as a failure',
    [`update transfers set kind = 'payout_failed' where ${oneTransfer('payout_returned')}`],
  ],
  [
    'every payout that failed or came back was paid back',
    'a refund that names the debit',
    [
      `update payout_events set transfer_id = (select transfer_id from payouts p where p.id = payout_id) where status = 'FAILED'`,
    ],
  ],
  [
    'every transfer on a chain has its deposit',
    'one of another amount than its deposit',
    ['update chain_deposits set amount = amount + 1'],
  ],
  ['every transfer on a chain has its deposit', 'one that is nobody’s', ['delete from chain_events']],
  [
    'every reversal of a deposit took it back',
    'a reversal of a larger amount',
    ['update deposit_reversals set amount = amount + 1'],
  ],
  [
    'every reversal of a deposit took it back',
    'a reversal of a deposit that is gone',
    [`delete from deposits where reference = 'deadbeef'`],
  ],
  ['every deposit came in', 'a deposit of a larger amount', [`update deposits set amount = amount + 1`]],
  [
    'every deposit came in',
    'a deposit to another wallet',
    [`update deposits set wallet_id = (select id from wallets where currency = 'USDT') where amount = 10000000000`],
  ],
  ['every deposit came in', 'a deposit with another balance', [`update deposits set balance_after = 0`]],
  [
    'every transfer has its payout or deposit',
    'a deposit that is gone',
    [`delete from deposits where amount = 10000000000`],
  ],
  [
    'every transfer has its payout or deposit',
    'a payout that is gone',
    [`delete from payouts where ${onePayout('PROCESSING')}`],
  ],
  [
    'every transfer has its payout or deposit',
    'an event that is gone',
    [`delete from payout_events where status = 'RETURNED'`],
  ],
  [
    'every transfer names its payout or deposit',
    'a payout’s transfer that names none',
    [`update transfers set payout_id = null where kind = 'payout'`],
  ],
  [
    'every transfer names its payout or deposit',
    'a settlement that names another payout',
    [
      `update transfers set payout_id = (select id from payouts where status = 'PROCESSING') where kind = 'payout_completed'`,
    ],
  ],
  [
    'every transfer names its payout or deposit',
    'a refund that names no payout',
    [`update transfers set payout_id = null where kind = 'payout_returned'`],
  ],
  [
    'every transfer names its payout or deposit',
    'a deposit’s transfer with another reference',
    [`update transfers set reference = 'other' where kind = 'deposit'`],
  ],
  [
    'every transfer names its payout or deposit',
    'a deposit’s transfer that names a payout as well',
    [`update transfers set payout_id = (select id from payouts limit 1) where kind = 'deposit'`],
  ],
  [
    'every status has its events',
    'a payout that is completed by hand',
    [`update payouts set status = 'COMPLETED' where ${onePayout('PROCESSING')}`],
  ],
  [
    'every status has its events',
    'a payout that is put back to PROCESSING',
    [`update payouts set status = 'PROCESSING' where ${onePayout('COMPLETED')}`],
  ],
  [
    'every status has its events',
    'a failure that is called a return',
    [`update payouts set status = 'RETURNED' where ${onePayout('FAILED')}`],
  ],
  [
    'every status has its events',
    'a return that is called a failure',
    [`update payout_events set status = 'FAILED' where status = 'RETURNED'`],
  ],
  [
    'every status has its events',
    'an event that is gone',
    [`delete from payout_events where payout_id in (select id from payouts where status = 'COMPLETED')`],
  ],
  [
    'clearing accounts are what payouts and deposits say',
    'a payout of another asset',
    [`update payouts set asset_code = 'USDT' where ${onePayout('PROCESSING')}`],
  ],
  [
    'clearing accounts are what payouts and deposits say',
    'a completed payout of another amount and fee',
    [`update payouts set amount = amount + 1, fee = fee - 1 where ${onePayout('COMPLETED')}`],
  ],
  [
    'clearing accounts are what payouts and deposits say',
    'a fee that was never earned',
    [`update transfers set fee = fee + 1, amount = amount - 1 where ${oneTransfer('payout')}`],
  ],
  [
    'sequences are dense',
    'a payout with another number',
    [`update payouts set sequence = sequence + 100 where ${onePayout('RETURNED')}`],
  ],
  ['sequences are dense', 'a payout that is gone', [`delete from payouts where ${onePayout('PROCESSING')}`]],
  [
    'sequences are dense',
    'a number that was given and not used',
    [`update sequences set latest = latest + 1 where name = 'customers'`],
  ],
  ['sequences are dense', 'a sequence that is gone', [`delete from sequences where name = 'wallets'`]],
  [
    'maintained counts are right',
    'a count that is larger',
    [`update list_counts set row_count = row_count + 1 where list like 'wallets/owner:%' and block_size = 0`],
  ],
  [
    'maintained counts are right',
    'a count of a block',
    [
      `update list_counts set row_count = row_count - 1 where list like 'payout_methods/owner:%/type:BANK' and block_size > 0`,
    ],
  ],
  ['maintained counts are right', 'a count that is gone', [`delete from list_counts where list = 'payout_methods'`]],
  ['maintained counts are right', 'a payout method that is gone', [`delete from payout_methods where sequence = 1`]],
  [
    'the database finds nothing wrong with its files',
    'a payout of a customer that is not there',
    [`update payouts set customer_id = '00000000-0000-7000-8000-000000000000' where ${onePayout('FAILED')}`],
  ],
  ['the schema is that of the migrations', 'a unique index that is gone', ['drop index payouts_by_idempotency_key']],
  [
    'nothing is there twice',
    'a key that paid twice',
    ['drop index payouts_by_idempotency_key', `update payouts set idempotency_key = 'the same'`],
  ],
  [
    'nothing is there twice',
    'a number that was given twice',
    ['drop index payouts_by_sequence', `update payouts set sequence = 1 where sequence = 2`],
  ],
  [
    'every payout says what was written',
    'a payout to another account',
    [`update payouts set account_number = '1' || substr(account_number, 2) where ${onePayout('COMPLETED')}`],
  ],
  [
    'every payout says what was written',
    'a payout with another narration',
    [`update payouts set narration = 'x' where ${onePayout('PROCESSING')}`],
  ],
  [
    'every payout says what was written',
    'a payout of before there were checksums, to another account',
    [`update payouts set checksum = null`, `update payouts set account_number = '0000014570' where sequence = 4`],
  ],
]

describe.each(everyEngine)('the audit on %s', (engine) => {
  test('finds nothing in books that nobody touched, and sums them up', async () => {
    const app = await startBusyApp(engine)
    const checked: string[] = []

    const onProgress = (check: string, done: number, count: number) => void (done < count && checked.push(check))
    const { findings, ...summary } = await auditBooks(app.service, onProgress)

    expect(findings.map(({ contradictions }) => contradictions)).toEqual(findings.map(() => 0))
    expect(findings.map(({ check }) => check)).toEqual(checked)
    // Two payouts of 2 with a fee of 0.5 are gone, two came back.
    expect(summary).toEqual({
      balanced: true,
      unchecked: null,
      wallets: { USDC: '95.00000000', USDT: '7.00000000' },
      transfers: 4 + 4 + 4,
      entries: 4 * 2 + 4 * 3 + (2 + 3 + 2 + 3),
      payouts: 4,
    })
    // And every check has its negative control below.
    expect(new Set(cases.map(([check]) => check))).toEqual(new Set(checked))
  })

  test.each(cases)('«%s» finds %s', async (check, _, statements) => {
    const app = await startBusyApp(engine)
    await tamperWith(app, ...statements)

    const { balanced, findings } = await auditBooks(app.service)

    expect(balanced).toBe(false)
    const finding = findings.find((each) => each.check === check)
    expect(finding?.contradictions).toBeGreaterThan(0)
    expect(finding?.examples[0]).toMatch(/[0-9a-f-]{8}|refers to|is missing/)
  })

  test('finds a transfer of another cause though nothing was asked before', async () => {
    const app = await startBusyApp(engine)
    await tamperWith(app, `update transfers set reference = 'other' where kind = 'deposit'`)

    expect(await transfersWithWrongCause(app.db, {})).toHaveLength(3)
  })

  test('holds payouts of before there were checksums against their fingerprints, and finds nothing', async () => {
    const app = await startBusyApp(engine)
    await tamperWith(app, `update payouts set checksum = null`)
    expect(await auditBooks(app.service)).toMatchObject({ balanced: true })
  })

  test('sums what is beyond 64 bits', async () => {
    const app = await startBusyApp(engine)
    await tamperWith(app, `update accounts set balance = 9223372036854775807`)
    await tamperWith(app, `update accounts set asset_code = 'USDC'`)
    const { wallets } = await auditBooks(app.service)
    expect(wallets).toEqual({ USDC: '184467440737.09551614' })
  })
})

// Versions before limited what a wallet holds, and not all that was ever deposited in it.
test.each(everyEngine)('deposits of more than an amount can be contradict nothing, on %s', async (engine) => {
  const app = await startApp(engine)
  const id = await app.wallet({ balance: '1' })
  const deposits = Array.from(
    { length: 12 },
    (_, i) => `insert into deposits select merchant_id, 'more ${i}', wallet_id, transfer_id, 999999999999999999,
      balance_after, created_at from deposits where wallet_id = '${id}' limit 1`,
  )
  const finding = async () => {
    const { findings } = await auditBooks(app.service)
    return findings.find(({ check }) => check === 'every wallet knows what was deposited in it')?.examples
  }

  await tamperWith(app, ...deposits, `update accounts set reachable_balance = 9223372036854775807 where id = '${id}'`)
  expect(await finding()).toEqual([])
  await tamperWith(app, `update accounts set reachable_balance = 9223372036799999999 where id = '${id}'`)
  expect(await finding()).toEqual([id])
})
