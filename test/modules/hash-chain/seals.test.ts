import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { auditBooks, auditChain } from '../../../src/modules/audit/audit.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import type { ChainDifference } from '../../../src/modules/hash-chain/first-difference.ts'
import { describeDifference } from '../../../src/modules/hash-chain/first-difference.ts'
import { sealsAfter } from '../../../src/modules/hash-chain/repository.ts'
import type { Seal } from '../../../src/modules/hash-chain/seal.ts'
import { computeSealHash, genesisHead } from '../../../src/modules/hash-chain/seal.ts'
import { startSealer } from '../../../src/modules/hash-chain/sealer.ts'
import type { ChainVerification } from '../../../src/modules/hash-chain/verify-chain.ts'
import { getPayout } from '../../../src/modules/payouts/get-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App, Engine } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { sampleCustomer } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import { tamperWith } from '../../support/stored.ts'
import { changeCustomer, createTamperTargets, moveEvents, sealAll, tamperings } from './support/tamperings.ts'

/** A merchant with every kind of history in three seals. */
async function startSealed(engine: Engine) {
  const app = await startApp(engine)
  await app.fee('0.5')
  const customerId = await app.customer()
  await app.wallet({ balance: '100' })
  const walletId = await app.wallet({ assetCode: 'USDT', balance: '7' })
  await sealAll(app.service)
  const payouts: string[] = []
  for (const amount of ['2', '3', '4']) payouts.push(await pay(app, amount))
  await settlePayout(app.context(), { payoutId: payouts[1] as string, status: 'COMPLETED', override: true })
  await settlePayout(app.context(), { payoutId: payouts[2] as string, status: 'FAILED', override: true })
  await changeCustomer(app.context(), customerId, '+2348012345679')
  await sealAll(app.service)
  payouts.push(await pay(app, '5'))
  await sealAll(app.service)
  return { app, targets: await createTamperTargets(app.context(), { engine, walletId }), payouts, walletId }
}

/** Changes a seal and recomputes its hash, so the seal itself is consistent. */
async function rewriteSeal(app: App, number: number, change: Partial<Seal>): Promise<void> {
  const seals = await sealsAfter(app.db, { merchantId: app.merchant.id, after: 0, limit: number })
  const seal = { ...(seals[number - 1] as Seal), ...change }
  const hash = computeSealHash(seal, seals[number - 2] ?? genesisHead)
  const values = Object.entries({ ...change, hash }).map(([name, value]) => `${name} = '${value}'`)
  await tamperWith(app, `update seals set ${values.join(', ')} where number = ${number}`)
}

async function pay(app: App, amount: string): Promise<string> {
  const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount } })
  return body.data.id
}

const chainOf = async (app: App, keptHeads: ChainVerification['heads'] = []) =>
  (await auditChain(app.service, { kept: keptHeads })).chain

describe.each(everyEngine)('the hash chain audit on %s', (engine) => {
  test('finds no difference if no row and no seal was changed', async () => {
    const { app } = await startSealed(engine)
    const { balanced, findings, chain } = await auditChain(app.service)
    expect(findings).toEqual([{ check: 'the history matches its seals', contradictions: 0, examples: [] }])
    expect(balanced).toBe(true)
    expect(chain).toMatchObject({ seals: 3, events: 12, unsealed: 0, differences: [] })
    expect(chain.heads).toEqual([
      { merchantId: app.merchant.id, number: 3, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ])
    await app.expectBooksToBalance()
  })

  test.each(tamperings)('reports $name', async ({ statements, found, isQuiet }) => {
    const { app, targets } = await startSealed(engine)
    await tamperWith(app, ...statements(targets))
    const { balanced, findings, chain } = await auditChain(app.service)
    expect(chain.differences).toMatchObject([{ merchantId: app.merchant.id, ...found(targets) }])
    expect(balanced).toBe(false)
    expect(findings[0]?.contradictions).toBe(1)
    expect(findings[0]?.examples).toEqual(chain.differences.map(describeDifference))
    expect(findings[0]?.examples[0]).toContain(`event ${found(targets).event}: `)
    expect((await auditBooks(app.service)).balanced).toBe(isQuiet)
  })

  test('reports the table and key of a changed or deleted row of an event', async () => {
    const { app, payouts, walletId } = await startSealed(engine)
    const { merchant, service } = app
    const differenceAfter = async (...statements: string[]) => {
      await tamperWith(app, ...statements)
      return (await chainOf(app)).differences
    }
    const expected = (event: number, table: string, key: string | null, change: string) => [
      { merchantId: merchant.id, event, table, key, done: change, otherEvent: null },
    ]
    const changedTime = `created_at = '2020-01-01T00:00:00.000Z'`
    // From the last event to the first, because the audit reports the first difference.
    const last = `select transfer_id from payouts where sequence = 4`
    expect(await differenceAfter(`update transfers set ${changedTime} where id = (${last})`)).toEqual(
      expected(12, 'transfers', (await getPayout(app.context(), { payoutId: payouts[3] ?? '' })).transferId, 'changed'),
    )
    expect(await differenceAfter(`delete from transfers where id = (${last})`)).toEqual(
      expected(12, 'transfers', null, 'missing'),
    )
    for (const [event, status, payout] of [
      [10, 'FAILED', payouts[2]],
      [9, 'COMPLETED', payouts[1]],
    ] as const) {
      expect(await differenceAfter(`update payout_events set ${changedTime} where status = '${status}'`)).toEqual(
        expected(event, 'payoutEvents', payout ?? '', 'changed'),
      )
    }
    expect(await differenceAfter(`update payouts set ${changedTime} where sequence = 1`)).toEqual(
      expected(6, 'payouts', payouts[0] ?? '', 'changed'),
    )
    const reference = `opening ${walletId}`
    expect(await differenceAfter(`update deposits set ${changedTime} where reference = '${reference}'`)).toEqual(
      expected(5, 'deposits', reference, 'changed'),
    )
    expect(await differenceAfter(`update wallets set ${changedTime} where id = '${walletId}'`)).toEqual(
      expected(4, 'wallets', walletId, 'changed'),
    )
    expect(await differenceAfter(`update wallets set id = '${service.newId()}' where id = '${walletId}'`)).toEqual(
      expected(4, 'wallets', null, 'missing'),
    )
    expect(await differenceAfter(`update events set version = 7 where sequence = 1`)).toEqual(
      expected(1, 'events', '1', 'changed'),
    )
  })

  test('reports both of two swapped events, and a row that was inserted after its event was sealed', async () => {
    const { app, targets, walletId } = await startSealed(engine)
    const swap = tamperings.find(({ name }) => name.startsWith('two events'))
    await tamperWith(app, ...(swap?.statements(targets) ?? []))
    const [difference] = (await chainOf(app)).differences
    const [firstEvent, otherEvent] = [targets.payout.event, targets.laterPayout.event]
    expect(difference).toMatchObject({
      event: firstEvent,
      key: `${firstEvent}`,
      done: 'swapped',
      otherEvent: otherEvent,
    })
    expect(describeDifference(difference as ChainDifference)).toBe(
      `merchant ${app.merchant.id}, event ${firstEvent}: events ${firstEvent} swapped with that of event ${otherEvent}`,
    )

    const lateApp = await startApp(engine)
    const lateId = await lateApp.wallet()
    const rename = (from: string, to: string) => `update wallets set id = '${to}' where id = '${from}'`
    await tamperWith(lateApp, rename(lateId, walletId))
    await sealAll(lateApp.service)
    await tamperWith(lateApp, rename(walletId, lateId))
    expect((await chainOf(lateApp)).differences).toMatchObject([
      { event: 1, table: 'wallets', key: lateId, done: 'inserted', otherEvent: null },
    ])
  })

  test('reports a changed seal and a deleted seal', async () => {
    const { app } = await startSealed(engine)
    const sealDifference = (event: number, kind: string) => [
      { merchantId: app.merchant.id, event, table: 'seals', key: '2', done: kind, otherEvent: null },
    ]
    const { heads } = await chainOf(app)
    await tamperWith(app, `update seals set created_at = '2020-01-01T00:00:00.000Z' where number = 2`)
    expect(await chainOf(app)).toMatchObject({ heads, differences: sealDifference(11, 'changed') })
    await tamperWith(app, `delete from seals where number = 2`)
    expect(await chainOf(app)).toMatchObject({ heads, differences: sealDifference(6, 'missing') })
  })

  test('reports a seal whose hash was recomputed for different rows or fewer rows', async () => {
    const { app } = await startSealed(engine)
    await rewriteSeal(app, 3, { contents: '0'.repeat(64) })
    expect((await chainOf(app)).differences).toEqual([
      { merchantId: app.merchant.id, event: 12, table: 'events', key: null, done: 'changed', otherEvent: null },
    ])
    await rewriteSeal(app, 2, { prints: '' })
    expect((await chainOf(app)).differences).toMatchObject([{ event: 11, table: 'seals', key: '2', done: 'changed' }])
  })

  test('reports its progress, and finds a deleted event even if later events were renumbered', async () => {
    const app = await startApp(engine)
    const other = await app.otherMerchant()
    const customerId = await app.customer()
    await app.customer()
    await sealAll(app.service)
    for (let seal = 2; seal <= 20; seal++) {
      await changeCustomer(app.context(), customerId, `+23480123450${seal + 10}`)
      await sealAll(app.service)
    }
    await changeCustomer(app.context(), customerId, '+2348012345001')
    const progress: string[] = []
    const { chain } = await auditChain(app.service, {}, (...update) => progress.push(update.join()))
    expect(chain).toMatchObject({ seals: 20, events: 21, unsealed: 1, differences: [] })
    expect(progress).toEqual([0, 1, 2].map((doneCount) => `the history matches its seals,${doneCount},2`))
    expect(chain.heads.map(({ merchantId }) => merchantId)).toEqual([app.merchant.id])

    // The audit reads sixteen seals at a time: the deleted row is found with a seal of the next sixteen, which covers
    // the moved row.
    await tamperWith(app, `delete from events where sequence = 18`, ...moveEvents(18, -1))
    const { heads, differences, events } = await chainOf(app)
    expect(differences).toMatchObject([{ event: 18, table: 'events', key: null, done: 'missing' }])
    expect([heads, events]).toEqual([chain.heads, 21])
    await perform(createCustomer, createContext(app.service, other.id), sampleCustomer)
    const laterChain = await chainOf(app)
    expect([laterChain.differences.length, laterChain.seals, laterChain.unsealed]).toEqual([1, 20, 1])
  })

  test('reports deleted and rewritten seals if it compares them with chain heads that were saved earlier', async () => {
    const { app, targets } = await startSealed(engine)
    const { heads } = await chainOf(app)
    await sealAll(app.service)
    expect((await chainOf(app, heads)).differences).toEqual([])
    const laterChain = await chainOf(app)

    await tamperWith(app, `delete from seals where number = 3`)
    expect((await chainOf(app)).differences).toEqual([])
    expect((await chainOf(app, heads)).differences).toMatchObject([{ table: 'seals', key: '3', done: 'missing' }])

    const [tampering] = tamperings
    await tamperWith(app, ...(tampering?.statements(targets) ?? []), 'delete from seals')
    await sealAll(app.service)
    // Without saved chain heads, a complete rewrite of all seals is not detected.
    expect((await chainOf(app)).differences).toEqual([])
    for (let payouts = 0; payouts < 2; payouts++) {
      await pay(app, '1')
      await sealAll(app.service)
    }
    expect((await chainOf(app, heads)).differences).toMatchObject([{ table: 'seals', key: '3', done: 'rewritten' }])
    expect((await chainOf(app)).root).not.toBe(laterChain.root)
  })

  test('reports a merchant that is in the saved chain heads but not in the database', async () => {
    const { app } = await startSealed(engine)
    const merchantId = app.service.newId()
    const keptHeads = [{ merchantId, number: 1, hash: '0'.repeat(64) }]
    expect((await chainOf(app, keptHeads)).differences).toMatchObject([{ merchantId, table: 'seals', done: 'missing' }])
  })

  test('finds one complete chain after several processes sealed concurrently', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const errors: unknown[] = []
    const sealers = [1, 2, 3].map(() => startSealer({ service: app.service, onError: (error) => errors.push(error) }))
    for (let round = 1; round <= 3; round++) {
      await pay(app, '1')
      await Promise.all(sealers.map(({ poll }) => poll()))
    }
    // A sealer that finds another one's seal pauses, so the last events may remain unsealed.
    await sealAll(app.service)
    for (const { stop } of sealers) await stop()
    expect(errors).toEqual([])
    expect(await chainOf(app)).toMatchObject({ unsealed: 0, differences: [] })
  })

  test('finds one chain for each merchant with events, and no chain for a merchant without events', async () => {
    const app = await startApp(engine)
    const other = await app.otherMerchant()
    await app.wallet({ balance: '100' })
    await sealAll(app.service)
    const { heads, unsealed } = await chainOf(app)
    expect(heads.map(({ merchantId }) => merchantId)).toEqual([app.merchant.id])
    expect(unsealed).toBe(0)
    expect(await app.rest('GET', '/api/wallets', { key: other.apiKey })).toMatchObject({ status: 200 })
  })

  test('finds two seals for 301 events, because a seal covers at most 250 events', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    for (let change = 0; change < 300; change++) {
      await changeCustomer(app.context(), customerId, `+234801234${1_000 + change}`)
    }
    await sealAll(app.service)
    expect(await chainOf(app)).toMatchObject({ seals: 2, events: 301, unsealed: 0, differences: [] })
  })
})

test('describeDifference includes the key of the row, or only the table if there is no key', () => {
  const difference = {
    merchantId: 'm',
    event: 17,
    table: 'transfers',
    key: 'k',
    done: 'changed',
    otherEvent: null,
  } as const
  expect(describeDifference(difference)).toBe('merchant m, event 17: transfers k changed')
  const missing = { ...difference, key: null, done: 'missing' } as const
  expect(describeDifference(missing)).toBe('merchant m, event 17: a row of transfers missing')
})

test('an error while a seal of the hash chain is stored does not stop payouts, and the next run stores the seal', async () => {
  const app = await startApp('sqlite')
  await app.wallet({ balance: '100' })
  await tamperWith(
    app,
    `create trigger no_seals before insert on seals begin select raise(abort, 'the disk is full'); end`,
  ).catch(
    // The trigger changes no row, which tamperWith reports as an error.
    () => {},
  )
  await expect(sealAll(app.service)).rejects.toThrow('the disk is full')
  await pay(app, '1')
  expect(await chainOf(app)).toMatchObject({ seals: 0, unsealed: 3, differences: [] })
  const database = new Sqlite(app.url.replace(/^sqlite:/, ''))
  database.exec('drop trigger no_seals')
  database.close()
  await sealAll(app.service)
  expect(await chainOf(app)).toMatchObject({ seals: 1, unsealed: 0, differences: [] })
})

test('a hash chain sealer reports a changed latest seal and still seals later events', async () => {
  const { app } = await startSealed('sqlite')
  await tamperWith(app, `update seals set contents = 'other' where number = 3`)
  await pay(app, '1')
  const faults: unknown[] = []
  const sealing = startSealer({ service: app.service, onError: (error) => faults.push(error) })
  await sealing.poll()
  await sealing.stop()
  expect(faults).toEqual([
    new Error(`hash chain: seal 3 of merchant ${app.merchant.id} was altered; run audit --chain`),
  ])
  expect(await chainOf(app)).toMatchObject({ seals: 4, unsealed: 0, differences: [{ table: 'seals', key: '3' }] })
})

test('a missing event of one merchant does not prevent the sealing of other merchants’ events', async () => {
  const app = await startApp('sqlite')
  const other = await app.otherMerchant()
  await app.customer()
  await app.customer()
  await perform(createCustomer, createContext(app.service, other.id), sampleCustomer)
  await tamperWith(app, `delete from events where sequence = 1 and merchant_id = '${app.merchant.id}'`)
  await expect(sealAll(app.service)).rejects.toThrow(`event 1 of merchant ${app.merchant.id} is missing`)
  expect((await chainOf(app)).heads).toMatchObject([{ merchantId: other.id, number: 1 }])
})
