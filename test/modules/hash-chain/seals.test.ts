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
import { everyEngine, payoutBody, sampleCustomer, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { tamperWith } from '../../support/stored.ts'
import { changeCustomer, createTamperTargets, moveEvents, sealAll, tamperings } from './support/tamperings.ts'

/** A merchant with something of every kind of history, sealed by and by. */
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
  return { app, place: await createTamperTargets(app.context(), { engine, walletId }), payouts, walletId }
}

/** Changes a seal and recomputes its hash, so that the seal alone shows nothing. */
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

const chainOf = async (app: App, kept: ChainVerification['heads'] = []) =>
  (await auditChain(app.service, { kept })).chain

describe.each(everyEngine)('history that is sealed on %s', (engine) => {
  test('is as it was sealed, in seals that follow each other', async () => {
    const { app } = await startSealed(engine)
    const { balanced, findings, chain } = await auditChain(app.service)
    expect(findings).toEqual([{ check: 'history is as it was sealed', contradictions: 0, examples: [] }])
    expect(balanced).toBe(true)
    expect(chain).toMatchObject({ seals: 3, events: 12, unsealed: 0, differences: [] })
    expect(chain.heads).toEqual([
      { merchantId: app.merchant.id, number: 3, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ])
    await app.expectBooksToBalance()
  })

  test.each(tamperings)('shows $name', async ({ statements, found, isQuiet }) => {
    const { app, place } = await startSealed(engine)
    await tamperWith(app, ...statements(place))
    const { balanced, findings, chain } = await auditChain(app.service)
    expect(chain.differences).toMatchObject([{ merchantId: app.merchant.id, ...found(place) }])
    expect(balanced).toBe(false)
    expect(findings[0]?.contradictions).toBe(1)
    expect(findings[0]?.examples).toEqual(chain.differences.map(describeDifference))
    expect(findings[0]?.examples[0]).toContain(`event ${found(place).event}: `)
    // What only the chain shows must be so, or the chain shows nothing that is new.
    expect((await auditBooks(app.service)).balanced).toBe(isQuiet)
  })

  test('shows which row it is of what an event leads to', async () => {
    const { app, payouts, walletId } = await startSealed(engine)
    const { merchant, service } = app
    const differenceAfter = async (...statements: string[]) => {
      await tamperWith(app, ...statements)
      return (await chainOf(app)).differences
    }
    const expected = (event: number, table: string, key: string | null, done: string) => [
      { merchantId: merchant.id, event, table, key, done, otherEvent: null },
    ]
    const early = `created_at = '2020-01-01T00:00:00.000Z'`
    // From the last to the first: each is the first that differs.
    const last = `select transfer_id from payouts where sequence = 4`
    expect(await differenceAfter(`update transfers set ${early} where id = (${last})`)).toEqual(
      expected(12, 'transfers', (await getPayout(app.context(), { payoutId: payouts[3] ?? '' })).transferId, 'changed'),
    )
    expect(await differenceAfter(`delete from transfers where id = (${last})`)).toEqual(
      expected(12, 'transfers', null, 'missing'),
    )
    for (const [event, status, payout] of [
      [10, 'FAILED', payouts[2]],
      [9, 'COMPLETED', payouts[1]],
    ] as const) {
      expect(await differenceAfter(`update payout_events set ${early} where status = '${status}'`)).toEqual(
        expected(event, 'payoutEvents', payout ?? '', 'changed'),
      )
    }
    expect(await differenceAfter(`update payouts set ${early} where sequence = 1`)).toEqual(
      expected(6, 'payouts', payouts[0] ?? '', 'changed'),
    )
    const reference = `opening ${walletId}`
    expect(await differenceAfter(`update deposits set ${early} where reference = '${reference}'`)).toEqual(
      expected(5, 'deposits', reference, 'changed'),
    )
    expect(await differenceAfter(`update wallets set ${early} where id = '${walletId}'`)).toEqual(
      expected(4, 'wallets', walletId, 'changed'),
    )
    expect(await differenceAfter(`update wallets set id = '${service.newId()}' where id = '${walletId}'`)).toEqual(
      expected(4, 'wallets', null, 'missing'),
    )
    expect(await differenceAfter(`update events set version = 7 where sequence = 1`)).toEqual(
      expected(1, 'events', '1', 'changed'),
    )
  })

  test('shows with which event one was swapped, and a row that was not there when it was sealed', async () => {
    const { app, place, walletId } = await startSealed(engine)
    const swap = tamperings.find(({ name }) => name.startsWith('two events'))
    await tamperWith(app, ...(swap?.statements(place) ?? []))
    const [difference] = (await chainOf(app)).differences
    const [one, other] = [place.payout.event, place.laterPayout.event]
    expect(difference).toMatchObject({ event: one, key: `${one}`, done: 'swapped', otherEvent: other })
    expect(describeDifference(difference as ChainDifference)).toBe(
      `merchant ${app.merchant.id}, event ${one}: events ${one} swapped with that of event ${other}`,
    )

    const late = await startApp(engine)
    const lateId = await late.wallet()
    const rename = (from: string, to: string) => `update wallets set id = '${to}' where id = '${from}'`
    await tamperWith(late, rename(lateId, walletId))
    await sealAll(late.service)
    await tamperWith(late, rename(walletId, lateId))
    expect((await chainOf(late)).differences).toMatchObject([
      { event: 1, table: 'wallets', key: lateId, done: 'inserted', otherEvent: null },
    ])
  })

  test('shows a seal that was changed, and one that is gone', async () => {
    const { app } = await startSealed(engine)
    const ofSeal = (event: number, done: string) => [
      { merchantId: app.merchant.id, event, table: 'seals', key: '2', done, otherEvent: null },
    ]
    const { heads } = await chainOf(app)
    await tamperWith(app, `update seals set created_at = '2020-01-01T00:00:00.000Z' where number = 2`)
    expect(await chainOf(app)).toMatchObject({ heads, differences: ofSeal(11, 'changed') })
    await tamperWith(app, `delete from seals where number = 2`)
    expect(await chainOf(app)).toMatchObject({ heads, differences: ofSeal(6, 'missing') })
  })

  test('shows a seal whose hash was recomputed for other rows, or for fewer', async () => {
    const { app } = await startSealed(engine)
    await rewriteSeal(app, 3, { contents: '0'.repeat(64) })
    expect((await chainOf(app)).differences).toEqual([
      { merchantId: app.merchant.id, event: 12, table: 'events', key: null, done: 'changed', otherEvent: null },
    ])
    await rewriteSeal(app, 2, { prints: '' })
    expect((await chainOf(app)).differences).toMatchObject([{ event: 11, table: 'seals', key: '2', done: 'changed' }])
  })

  test('shows what is closed up in any of many seals, and says how far it is', async () => {
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
    const { chain } = await auditChain(app.service, {}, (...said) => progress.push(said.join()))
    expect(chain).toMatchObject({ seals: 20, events: 21, unsealed: 1, differences: [] })
    expect(progress).toEqual([0, 1, 2].map((done) => `history is as it was sealed,${done},2`))
    expect(chain.heads.map(({ merchantId }) => merchantId)).toEqual([app.merchant.id])

    // Seals are looked at sixteen at a time: this row is known by a seal of the next sixteen, as the one behind it.
    await tamperWith(app, `delete from events where sequence = 18`, ...moveEvents(18, -1))
    const { heads, differences, events } = await chainOf(app)
    expect(differences).toMatchObject([{ event: 18, table: 'events', key: null, done: 'missing' }])
    expect([heads, events]).toEqual([chain.heads, 21])
    await perform(createCustomer, createContext(app.service, other.id), sampleCustomer)
    const late = await chainOf(app)
    expect([late.differences.length, late.seals, late.unsealed]).toEqual([1, 20, 1])
  })

  test('shows by heads that were kept what was cut off, and what was sealed anew', async () => {
    const { app, place } = await startSealed(engine)
    const { heads } = await chainOf(app)
    await sealAll(app.service)
    expect((await chainOf(app, heads)).differences).toEqual([])
    const late = await chainOf(app)

    await tamperWith(app, `delete from seals where number = 3`)
    expect((await chainOf(app)).differences).toEqual([])
    expect((await chainOf(app, heads)).differences).toMatchObject([{ table: 'seals', key: '3', done: 'missing' }])

    const [more] = tamperings
    await tamperWith(app, ...(more?.statements(place) ?? []), 'delete from seals')
    await sealAll(app.service)
    // Whoever makes all seals anew is not found by what is there.
    expect((await chainOf(app)).differences).toEqual([])
    for (let payouts = 0; payouts < 2; payouts++) {
      await pay(app, '1')
      await sealAll(app.service)
    }
    expect((await chainOf(app, heads)).differences).toMatchObject([{ table: 'seals', key: '3', done: 'rewritten' }])
    expect((await chainOf(app)).root).not.toBe(late.root)
  })

  test('shows a merchant that was kept and is not there', async () => {
    const { app } = await startSealed(engine)
    const merchantId = app.service.newId()
    const kept = [{ merchantId, number: 1, hash: '0'.repeat(64) }]
    expect((await chainOf(app, kept)).differences).toMatchObject([{ merchantId, table: 'seals', done: 'missing' }])
  })

  test('is sealed once by any number of processes', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const faults: unknown[] = []
    const sealings = [1, 2, 3].map(() => startSealer({ service: app.service, onError: (error) => faults.push(error) }))
    for (let round = 1; round <= 3; round++) {
      await pay(app, '1')
      await Promise.all(sealings.map(({ poll: look }) => look()))
    }
    // Whoever came second rests, and is not needed: what it left the next look of any has.
    await sealAll(app.service)
    for (const { stop } of sealings) await stop()
    expect(faults).toEqual([])
    expect(await chainOf(app)).toMatchObject({ unsealed: 0, differences: [] })
  })

  test('is of each merchant alone, and of those without any', async () => {
    const app = await startApp(engine)
    const other = await app.otherMerchant()
    await app.wallet({ balance: '100' })
    await sealAll(app.service)
    const { heads, unsealed } = await chainOf(app)
    expect(heads.map(({ merchantId }) => merchantId)).toEqual([app.merchant.id])
    expect(unsealed).toBe(0)
    expect(await app.rest('GET', '/api/wallets', { key: other.apiKey })).toMatchObject({ status: 200 })
  })

  test('is more than one seal where much has happened', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    for (let change = 0; change < 300; change++) {
      await changeCustomer(app.context(), customerId, `+234801234${1_000 + change}`)
    }
    await sealAll(app.service)
    expect(await chainOf(app)).toMatchObject({ seals: 2, events: 301, unsealed: 0, differences: [] })
  })
})

test('what is said of a difference names the row, or its table where it has no name', () => {
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

test('a seal that can not be stored is told of, stops nothing, and is made later', async () => {
  const app = await startApp('sqlite')
  await app.wallet({ balance: '100' })
  await tamperWith(
    app,
    `create trigger no_seals before insert on seals begin select raise(abort, 'the disk is full'); end`,
  ).catch(
    // It changes no row.
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

test('what was made after a seal that is not as it was is sealed all the same, and told of', async () => {
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

test('an event that is not there holds up no other merchant', async () => {
  const app = await startApp('sqlite')
  const other = await app.otherMerchant()
  await app.customer()
  await app.customer()
  await perform(createCustomer, createContext(app.service, other.id), sampleCustomer)
  await tamperWith(app, `delete from events where sequence = 1 and merchant_id = '${app.merchant.id}'`)
  await expect(sealAll(app.service)).rejects.toThrow(`event 1 of merchant ${app.merchant.id} is missing`)
  expect((await chainOf(app)).heads).toMatchObject([{ merchantId: other.id, number: 1 }])
})
