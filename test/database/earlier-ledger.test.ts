import { describe, expect, onTestFinished, test } from 'vitest'
import { transfersInOneRow } from '../../db/migrations/0028-transfers-in-one-row.ts'
import { migrations } from '../../db/migrations/index.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { auditBooks } from '../../src/modules/audit/audit.ts'
import { listWatchedAddresses } from '../../src/modules/deposits/list-watched-addresses.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { createService } from '../../src/operations/context.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import type { Rows } from './earlier-database.ts'
import { rowsAt, startEarlierDatabase } from './earlier-database.ts'

const formBefore = migrations.slice(0, migrations.indexOf(transfersInOneRow))

/** Creates books of two merchants with deposits and, with and without a fee, a payout in each status. */
async function startBusyApp(engine: Engine) {
  const app = await startApp(engine)
  await app.wallet({ balance: '3', assetCode: 'USDT' })
  await app.wallet({ balance: '100' })
  for (const fee of [null, '0.5']) {
    if (fee !== null) await app.fee(fee)
    for (const statuses of [[], ['COMPLETED'], ['FAILED'], ['COMPLETED', 'RETURNED']] as const) {
      const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '2' } })
      for (const status of statuses) await settlePayout(app.context(), { payoutId: body.data.id, status })
    }
  }
  return app
}

/** Adds the rows that the older schema has: an external account without a balance for each purpose. */
function withClearingAccounts(rows: Rows): Rows {
  const [{ merchant_id = null } = {}] = rows.accounts ?? []
  const clearing = ['deposits', 'payouts_in_transit', 'payouts_settled', 'fees'].flatMap((kind) =>
    ['USDC', 'USDT'].map((asset_code) => ({
      ...{ merchant_id, id: `${kind}:${asset_code}`, kind, asset_code },
      ...{ balance: null, entry_count: '0', latest_time: '0', reachable_balance: null },
    })),
  )
  return { ...rows, accounts: [...(rows.accounts ?? []), ...clearing] }
}

/** The older schema does not store the source of a payout's fee, so its checksums differ. */
function withOlderPayouts(rows: Rows): Rows {
  const older = { fee_deducted_from: null, checksum: null }
  return { ...rows, payouts: (rows.payouts ?? []).map((payout) => ({ ...payout, ...older })) }
}

/** Corruptions: another amount, the other side, a missing entry, a transfer without entries, an extra entry. */
const otherEntries = [
  `update entries set amount = amount + 1 where account_id like 'fees:%'`,
  `update entries set direction = 'debit' where account_id = 'payouts_settled:USDC'`,
  `delete from entries where account_id = 'payouts_in_transit:USDC'`,
  'delete from entries where transfer_id in (select transfer_id from deposits)',
  `insert into entries select merchant_id, transfer_id, 9, account_id, direction, amount, null, null from entries
    where sequence = 1`,
]

const open = (url: string) => openDatabase({ url, onFatal: () => {} })

describe.each(everyEngine)('a database of the version that stored ledger entries in separate rows, on %s', (engine) => {
  test('keeps every entry when it is migrated, and its books balance', async () => {
    const app = await startBusyApp(engine)
    const rows = withOlderPayouts(await rowsAt(app.url))
    const before = await startEarlierDatabase(engine, formBefore, withClearingAccounts(rows))
    const db = await open(before.url)
    onTestFinished(() => db.close())

    expect(await rowsAt(before.url)).toEqual(rows)
    const { findings, ...summary } = await auditBooks(createService({ db, mode: 'sandbox' }))
    expect(findings.filter(({ contradictions }) => contradictions > 0)).toEqual([])
    // Two deposits; four payouts without a fee and their settlements; four with a fee, which two settlements move.
    expect(summary).toMatchObject({
      balanced: true,
      payouts: 8,
      transfers: 2 + 8 + 8,
      entries: 4 + (8 + 8) + (12 + 10),
    })
  })

  test('is not migrated and stays unchanged if its entries are corrupt', async () => {
    const app = await startBusyApp(engine)
    const rows = withClearingAccounts(await rowsAt(app.url))
    for (const statement of otherEntries) {
      const before = await startEarlierDatabase(engine, formBefore, rows)
      await before.run(statement)

      await expect(open(before.url), statement).rejects.toThrow('entries that do not follow from their transfers')
      expect(await before.migrated()).toBe(formBefore.length)
    }
  })

  test('still has its existing deposit addresses in the list of watched addresses after the migration', async () => {
    const app = await startBusyApp(engine)
    const before = await startEarlierDatabase(engine, formBefore, withClearingAccounts(await rowsAt(app.url)))
    const db = await open(before.url)
    onTestFinished(() => db.close())
    const { addresses } = await listWatchedAddresses(createService({ db, mode: 'sandbox' }), {})
    expect(addresses.map(({ asset }) => asset).toSorted()).toEqual(['USDC', 'USDT'])
  })
})
