import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compileForPostgres } from '../../../src/database/postgres/compile-for-postgres.ts'
import type { Query, Reader } from '../../../src/database/query.ts'
import { compileForSqlite } from '../../../src/database/sqlite/compile-for-sqlite.ts'
import { unsealedBacklog } from '../../../src/modules/hash-chain/repository.ts'
import { startSealer } from '../../../src/modules/hash-chain/sealer.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { measureDatabase } from '../../../src/observability/metrics/database-metrics.ts'
import {
  oldestProcessingPayouts,
  processingPayouts,
  unknownOrderCount,
} from '../../../src/observability/metrics/repository.ts'
import type { Context } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import { nigerian } from '../../modules/payouts/payout-places.ts'
import { everyEngine, newDatabase, startApp } from '../../support/app.ts'
import { describePostgres } from '../../support/engines.ts'
import { perform } from '../../support/perform.ts'
import { newPostgresDatabase, runSql } from '../../support/postgres-database.ts'

describe.each(everyEngine)('the database gauges on %s', (engine) => {
  test('count the payouts and rates of all merchants', async () => {
    let time = Date.parse('2026-03-02T09:00:00Z')
    const app = await startApp(engine, { clock: () => time })
    const other = createContext(app.service, (await app.otherMerchant()).id)
    const wallet = await perform(createWallet, other, { currency: 'USDC', description: 'Test', network: 'solana' })
    await depositToWallet(other, { walletId: wallet.id, amount: '100', reference: 'opening' })
    await app.wallet({ balance: '100' })
    const pay = (context: Context) => perform(createPayout, context, payout)
    const { id } = await pay(app.context())
    time += 60_000
    await pay(app.context())
    await pay(other)
    expect((await measureDatabase(app.service, [])).processing).toEqual({ payouts: 3, oldestSeconds: 60 })
    const { processing: bounded } = await measureDatabase(app.service, [], { maxPayouts: 2 })
    expect(bounded).toEqual({ payouts: 2, oldestSeconds: 60 })

    await settlePayout(app.context(), { payoutId: id, status: 'COMPLETED' })
    time += 5_000
    const { processing, rateAges, unknown } = await measureDatabase(app.service, ['sandbox', 'none'])
    expect(processing).toEqual({ payouts: 2, oldestSeconds: 5 })
    expect(rateAges).toEqual(new Map(['USDC/NGN', 'USDC/ZAR', 'USDT/NGN', 'USDT/ZAR'].map((pair) => [pair, 65])))
    expect(unknown).toEqual(
      new Map([
        ['sandbox', 0],
        ['none', 0],
      ]),
    )
  })
})

describe.each(everyEngine)('the gauge of events that are not yet sealed in the hash chain, on %s', (engine) => {
  test('counts the unsealed events of all merchants, and has the age of the oldest unsealed event', async () => {
    let time = Date.parse('2026-03-02T09:00:00Z')
    const app = await startApp(engine, { clock: () => time })
    const unsealed = async () => (await measureDatabase(app.service, [])).unsealed
    expect(await unsealed()).toEqual({ events: 0, oldestSeconds: 0 })
    const other = createContext(app.service, (await app.otherMerchant()).id)
    await app.wallet()
    time += 60_000
    await perform(createWallet, other, { currency: 'USDC', description: 'Test', network: 'solana' })
    expect(await unsealed()).toEqual({ events: 2, oldestSeconds: 60 })

    const sealing = startSealer({ service: app.service, onError: (error) => expect.unreachable(String(error)) })
    onTestFinished(sealing.stop)
    await sealing.poll()
    expect(await unsealed()).toEqual({ events: 0, oldestSeconds: 0 })
    await app.wallet()
    time += 5_000
    expect(await unsealed()).toEqual({ events: 1, oldestSeconds: 5 })
  })
})

const payout = {
  assetCode: 'USDC',
  amount: '1',
  ...nigerian,
  paymentPurpose: 'GIFTS',
} as const

/** Returns the queries of the gauges. */
async function countingQueries(): Promise<Query[]> {
  const queries: Query[] = []
  const execute: Reader['execute'] = async (query) => {
    queries.push(query)
    return []
  }
  await processingPayouts({ execute }, { merchantIds: [''], limit: 1 })
  await oldestProcessingPayouts({ execute }, { merchantIds: [''], assetCode: '', recipientCurrency: '' })
  await unknownOrderCount({ execute }, { rail: '', limit: 1 })
  await unsealedBacklog({ execute }, { merchantIds: [''] })
  return queries
}

describe('the queries of the database gauges', () => {
  test('read only index ranges on SQLite', async () => {
    const { url, remove } = await newDatabase('sqlite')
    onTestFinished(remove)
    const database = new Sqlite(url.replace('sqlite:', ''), { readonly: true })
    onTestFinished(() => void database.close())
    const plans = (await countingQueries()).map(({ node }) => {
      const { sql, parameters } = compileForSqlite(node)
      const steps = database.prepare(`explain query plan ${sql}`).all(parameters.map(() => null)) as {
        detail: string
      }[]
      return steps
        .map(({ detail }) => detail)
        .filter((step) => /\b(payout\w*|seals|latest|events|sequences)\b/.test(step))
    })

    expect(plans).toEqual([
      ['SEARCH payouts USING COVERING INDEX payouts_by_values (merchant_id=? AND status=?)'],
      [
        'SEARCH payouts USING INDEX payouts_by_values (merchant_id=? AND status=? AND asset_code=? AND recipient_currency=?)',
      ],
      ['SEARCH payout_transfers USING INDEX payout_transfers_due (rail=? AND due_at>?)'],
      [
        'SEARCH sequences USING PRIMARY KEY (merchant_id=? AND name=?)',
        'SEARCH seals USING PRIMARY KEY (merchant_id=?)',
        'SEARCH events USING PRIMARY KEY (merchant_id=? AND sequence>?)',
      ],
    ])
  })
})

describePostgres('the queries of the gauge of payouts', {}, () => {
  test('the query of the gauge of payouts reads only index ranges on PostgreSQL', async () => {
    const { url, remove } = await newPostgresDatabase()
    onTestFinished(remove)
    await runSql(
      url,
      `set session_replication_role = replica;
      insert into payouts (merchant_id, id, sequence, wallet_id, transfer_id, transaction_id, reference_id, status, asset_code,
        recipient_currency, amount, balance_after, exchange_rate, amount_fiat, recipient_name, recipient_country, bank_name,
        bank_code, account_number, payment_purpose, transfer_type, created_at, updated_at)
      select ('00000000-0000-7000-8000-00000000000' || n % 3)::uuid, gen_random_uuid(), n, gen_random_uuid(),
        gen_random_uuid(), '', gen_random_uuid(), case n % 100 when 0 then 'PROCESSING' else 'COMPLETED' end, 'USDC', 'NGN',
        1, 1, '1', '1', 'Ada Obi', '', 'Access Bank', '', '', '', '', now(), now()
      from generate_series(1, 20000) n;
      analyze payouts`,
    )
    const client = new pg.Client(url)
    await client.connect()
    const queries = (await countingQueries()).slice(0, 2)
    const plans: string[] = []
    for (const query of queries) {
      const text = `explain (generic_plan, costs off) ${compileForPostgres(query).sql}`
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(text)
      plans.push(rows.map((step) => step['QUERY PLAN']).join('\n'))
    }
    await client.end()

    expect(plans).toEqual(queries.map(() => expect.stringMatching(/Index.* (using|on) payouts_by_values/)))
    expect(plans.join('\n')).not.toMatch(/Seq Scan on payouts|Sort/)
  })
})
