import { describe, expect, test } from 'vitest'
import { reportDeposit } from '../../../src/modules/deposits/report-deposit.ts'
import { listDepositAttention, resolveDeposit } from '../../../src/modules/deposits/resolve-deposit.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { Context, Mode } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App, Setup } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { everyEngineAndMode, setAddressKey } from '../../support/modes.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import { hashOf, nodeRail, refOf, report, sampleReport } from './support/node.ts'

const needed = 64

async function startWatched(setup: Setup, mode: Mode = 'sandbox', clock = Date.now) {
  const app = await startApp(setup, { mode, clock, rails: [nodeRail] })
  await setAddressKey(app)
  const walletId = await app.wallet({ network: 'erc20' })
  return { app, walletId, ref: await refOf(app, walletId) }
}

/** What a wallet holds, and waits for. */
async function held(app: App, walletId: string) {
  const { data } = await app.graphql(
    `query ($id: ID!) { wallet(id: $id) { balance pendingDeposits { network txHash logIndex amount confirmations needed detectedAt } } }`,
    { id: walletId },
  )
  return { balance: data.wallet.balance, pending: data.wallet.pendingDeposits }
}

const nothing = '0.00000000'
const ten = '10.00000000'

const setups = [...everyEngineAndMode, ['workers', 'sandbox']] as const

describe.each(setups)('a report of a deposit on %s in %s', (setup, mode) => {
  test('shows it as pending, and credits it once at the threshold', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)

    const first = await report(app, sampleReport(ref))
    expect([first.status, first.body]).toEqual([
      200,
      {
        status: 'success',
        data: {
          ...{ network: 'erc20', tx_hash: hashOf('one'), log_index: 0, state: 'DETECTED', confirmations: 1 },
          ...{ confirmations_needed: needed, cause: null, credited_at: null },
        },
      },
    ])
    expect(await held(app, walletId)).toEqual({
      balance: nothing,
      pending: [
        {
          ...{ network: 'ERC20', txHash: hashOf('one'), logIndex: 0, amount: ten, confirmations: 1, needed },
          detectedAt: expect.stringMatching(/Z$/),
        },
      ],
    })
    // The word does not decide, the count does.
    const early = await report(app, sampleReport(ref, { confirmations: needed - 1, state: 'CONFIRMED' }))
    expect(early.body.data).toMatchObject({ state: 'DETECTED', confirmations: needed - 1 })
    expect((await held(app, walletId)).balance).toBe(nothing)

    const confirmed = await report(app, sampleReport(ref, { confirmations: needed, state: 'DETECTED' }))
    expect(confirmed.body.data).toMatchObject({ state: 'CONFIRMED', credited_at: expect.stringMatching(/Z$/) })
    const stored = await readStoredRows(app)
    for (const confirmations of [needed, 900, 1]) {
      const again = await report(
        app,
        sampleReport(ref, { confirmations, tx_hash: hashOf('one').toUpperCase().replace('0X', '0x') }),
      )
      expect(again.body.data).toMatchObject({ state: 'CONFIRMED', tx_hash: hashOf('one') })
    }
    expect(await readStoredRows(app)).toEqual(stored)
    expect(await held(app, walletId)).toEqual({ balance: ten, pending: [] })
    const { data } = await app.graphql(`{ events(first: 10) { nodes { type } } }`)
    expect(data.events.nodes.at(-1)).toEqual({ type: 'WALLET_TRANSACTION_INBOUND' })
    await app.expectBooksToBalance()
  })

  test('keeps the most confirmations of those that come out of order', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    await report(app, sampleReport(ref, { confirmations: 5 }))
    const stored = await readStoredRows(app)
    for (const confirmations of [3, 5, 1]) await report(app, sampleReport(ref, { confirmations }))
    expect((await held(app, walletId)).pending).toMatchObject([{ confirmations: 5 }])
    expect(await readStoredRows(app)).toEqual(stored)
  })

  test('is gone when the chain lets go of it before the credit, and may come back', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    await report(app, sampleReport(ref, { confirmations: 9 }))
    const gone = await report(app, sampleReport(ref, { confirmations: 0, state: 'REORGED' }))
    expect(gone.body.data).toMatchObject({ state: 'REORGED', cause: null })
    expect(await held(app, walletId)).toEqual({ balance: nothing, pending: [] })
    await report(app, sampleReport(ref, { confirmations: 2 }))
    expect((await held(app, walletId)).pending).toMatchObject([{ confirmations: 2 }])
    await report(app, sampleReport(ref, { confirmations: needed }))
    expect((await held(app, walletId)).balance).toBe(ten)
  })

  test('needs a person when the chain lets go of it after the credit: no money is taken back', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    await report(app, sampleReport(ref, { confirmations: needed }))
    const gone = await report(app, sampleReport(ref, { confirmations: 0, state: 'REORGED' }))
    const cause = 'the chain has let go of it after it was credited'
    expect(gone.body.data).toMatchObject({ state: 'ATTENTION', cause })
    await report(app, sampleReport(ref, { confirmations: needed }))
    expect(await held(app, walletId)).toEqual({ balance: ten, pending: [] })
    const listed = await listDepositAttention(app.service, {})
    expect(listed).toMatchObject([{ walletId, reference: `erc20:${hashOf('one')}:0`, cause, amount: 1_000_000_000n }])
    // The same transaction, mined again, has its logs at other places.
    const again = await report(app, sampleReport(ref, { confirmations: needed, log_index: 3 }))
    expect(again.body.data).toMatchObject({
      state: 'ATTENTION',
      cause: expect.stringContaining(':0 has the same amount'),
    })
    expect((await held(app, walletId)).balance).toBe(ten)
    await app.expectBooksToBalance()
  })

  test.each([
    ['before the credit', 1, nothing],
    ['after it', needed, ten],
  ])('that contradicts an earlier one %s moves nothing and needs a person', async (_, confirmations, balance) => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    const [other, theirs] = [await app.wallet({ network: 'erc20' }), await otherWallet(app)]
    for (const [log, changes] of [
      [0, { amount: '11' }],
      [1, { ref: await refOf(app, other) }],
      [2, { ref: theirs.ref }],
    ] as const) {
      await report(app, sampleReport(ref, { confirmations, log_index: log, amount: log === 0 ? '10' : '1' }))
      const answer = await report(
        app,
        sampleReport(ref, { confirmations: needed, log_index: log, amount: '1', ...changes }),
      )
      expect(answer.body.data).toMatchObject({ state: 'ATTENTION', cause: expect.stringMatching(/^it was reported/) })
      await report(app, sampleReport(ref, { confirmations: needed, log_index: log, amount: log === 0 ? '10' : '1' }))
    }
    expect(await held(app, walletId)).toEqual({ balance: confirmations === 1 ? nothing : '12.00000000', pending: [] })
    expect((await held(app, other)).balance).toBe(nothing)
    expect(await listDepositAttention(app.service, {})).toHaveLength(3)
    expect((await readStoredRows(app)).deposits).toHaveLength(balance === nothing ? 0 : 3)
    await app.expectBooksToBalance()
  })

  test('refuses what can not be, names every fault, and stores nothing', async () => {
    const { app, ref } = await startWatched(setup, mode)
    const before = await readStoredRows(app)
    const refused = async (changes: object) => {
      const { status, body } = await report(app, sampleReport(ref, changes as Record<string, unknown>))
      const { code, details } = body.error
      return [status, code, details.fields.map(({ field, code }: Record<string, string>) => `${field} ${code}`).join()]
    }
    const messagesOf = async (changes: object) => {
      const { body } = await report(app, sampleReport(ref, changes as Record<string, unknown>))
      return body.error.details.fields.map(({ message }: { message: string }) => message)
    }
    const one = 'INVALID_INPUT'
    expect(await refused({ ref: crypto.randomUUID() })).toEqual([400, one, 'ref INVALID_PARAMETER'])
    expect(await refused({ ref: 'nobody' })).toEqual([400, one, 'ref INVALID_FORMAT'])
    expect(await refused({ asset: 'USDT' })).toEqual([400, one, 'asset INVALID_PARAMETER'])
    expect(await refused({ network: 'polygon', asset: 'EUR' })).toEqual([
      ...[400, one, 'network INVALID_PARAMETER,asset INVALID_PARAMETER'],
    ])
    // A hash is held to the form of its network, where there is such a network and it is text.
    expect(await refused({ network: 'bitcoin' })).toEqual([400, one, 'network INVALID_PARAMETER'])
    expect(await refused({ tx_hash: 17 })).toEqual([400, one, 'tx_hash INVALID_FORMAT'])
    expect(await refused({ tx_hash: ' ' })).toEqual([400, one, 'tx_hash MISSING_REQUIRED_FIELD'])
    for (const amount of ['0', '-1', '1.123456789', '12345678901', 1]) {
      expect(await refused({ amount })).toEqual([400, one, 'amount INVALID_FORMAT'])
    }
    for (const tx_hash of ['0x12', hashOf('one').slice(2), `${hashOf('one')} x`]) {
      expect(await refused({ tx_hash })).toEqual([400, one, 'tx_hash INVALID_FORMAT'])
    }
    expect(
      await refused({ log_index: -1, confirmations: 1.5, state: 'GONE', tx_hash: undefined, network: 'bitcoin' }),
    ).toEqual([
      ...[400, one],
      'network INVALID_PARAMETER,tx_hash MISSING_REQUIRED_FIELD,log_index INVALID_PARAMETER,confirmations INVALID_FORMAT,state INVALID_PARAMETER',
    ])
    expect(await messagesOf({ ref: crypto.randomUUID() })).toEqual(['ref must be the ref of a watched address'])
    expect(await messagesOf({ network: 'polygon', asset: 'EUR' })).toEqual([
      'network must be erc20, as the list of addresses says',
      'asset must be USDC, as the list of addresses says',
    ])
    expect(await messagesOf({ tx_hash: '0x12' })).toEqual(['tx_hash must be 0x and 64 hexadecimal digits on erc20'])
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('may have spaces around its hash, which is the same hash', async () => {
    const { app, ref } = await startWatched(setup, mode)
    await report(app, sampleReport(ref))
    const again = await report(app, sampleReport(ref, { tx_hash: ` ${hashOf('one')} `, confirmations: 2 }))
    expect(again.body.data).toMatchObject({ tx_hash: hashOf('one'), confirmations: 2 })
    expect((await readStoredRows(app)).chain_deposits).toHaveLength(1)
  })

  test('is not lost where the wallet is full: a person credits it when there is room', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    for (let i = 0; i < 9; i++) {
      await depositToWallet(app.context(), { walletId, amount: '9999999999.99999999', reference: `${i}` })
    }
    const answer = await report(app, sampleReport(ref, { amount: '9999999999', confirmations: needed }))
    expect(answer.body.data).toMatchObject({
      state: 'ATTENTION',
      cause: expect.stringMatching(/^The wallet could exceed/),
    })
    expect((await readStoredRows(app)).deposits).toHaveLength(9)
    await app.expectBooksToBalance()
  })

  test('counts what an operator has entered by the same reference as the same money', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    const reference = (log: number) => `erc20:${hashOf('one')}:${log}`
    await depositToWallet(app.context(), { walletId, amount: '10', reference: reference(0) })
    await depositToWallet(app.context(), { walletId, amount: '7', reference: reference(1) })
    const same = await report(app, sampleReport(ref, { confirmations: needed }))
    const other = await report(app, sampleReport(ref, { confirmations: needed, log_index: 1 }))
    expect([same.body.data.state, other.body.data.state]).toEqual(['CONFIRMED', 'ATTENTION'])
    expect((await held(app, walletId)).balance).toBe('17.00000000')
  })

  test('credits once however many come at once', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    const reports = Array.from({ length: 20 }, (_, i) => sampleReport(ref, { confirmations: 50 + i }))
    await Promise.all(reports.map((each) => report(app, each)))
    expect(await held(app, walletId)).toEqual({ balance: ten, pending: [] })
    expect((await readStoredRows(app)).deposits).toHaveLength(1)
    await app.expectBooksToBalance()
  })
})

describe.each(everyEngineAndMode)('a decision about a deposit on %s in %s', (engine, mode) => {
  const reference = `erc20:${hashOf('one')}:0`
  const reason = 'seen by Ada'

  test('credits what was not credited, once, and keeps the reason', async () => {
    const { app, walletId, ref } = await startWatched(engine, mode)
    await report(app, sampleReport(ref))
    for (const amount of ['11', '12']) await report(app, sampleReport(ref, { amount }))
    const resolved = await resolveDeposit(app.service, { reference, action: 'credit', reason })
    expect(resolved).toMatchObject({
      ...{ state: 'CONFIRMED', depositReference: reference },
      cause: `it was reported as ${ten} and as 11.00000000; ${reason}`,
    })
    expect((await held(app, walletId)).balance).toBe(ten)
    expect(await listDepositAttention(app.service, {})).toEqual([])
    expect((await domainErrorOf(() => resolveDeposit(app.service, { reference, action: 'credit', reason }))).code).toBe(
      'INVALID_INPUT',
    )
    await app.expectBooksToBalance()
  })

  test('lets what was credited stay, and not be dismissed', async () => {
    let now = Date.now()
    const { app, walletId, ref } = await startWatched(engine, mode, () => now)
    const credited = await report(app, sampleReport(ref, { confirmations: needed }))
    now += 60_000
    await report(app, sampleReport(ref, { state: 'REORGED' }))
    const refusal = await domainErrorOf(() => resolveDeposit(app.service, { reference, action: 'dismiss', reason }))
    expect(refusal.details.fields).toMatchObject([
      { field: 'action', message: 'must be credit: the money is in the wallet' },
    ])
    const resolved = await resolveDeposit(app.service, { reference, action: 'credit', reason })
    expect(resolved).toMatchObject({ state: 'CONFIRMED', creditedAt: credited.body.data.credited_at })
    expect((await held(app, walletId)).balance).toBe(ten)
    expect((await readStoredRows(app)).deposits).toHaveLength(1)
  })

  test('stands against the contradiction that it was about, and not against another', async () => {
    const { app, walletId, ref } = await startWatched(engine, mode)
    await report(app, sampleReport(ref, { confirmations: needed }))
    const wrong = { confirmations: needed, amount: '11' }
    await report(app, sampleReport(ref, wrong))
    await resolveDeposit(app.service, { reference, action: 'credit', reason })
    for (const changes of [wrong, { confirmations: needed }]) {
      expect((await report(app, sampleReport(ref, changes))).body.data.state).toBe('CONFIRMED')
    }
    expect((await report(app, sampleReport(ref, { ...wrong, amount: '1' }))).body.data).toMatchObject({
      state: 'ATTENTION',
      cause: `it was reported as ${ten} and as 1.00000000`,
    })
    expect((await held(app, walletId)).balance).toBe(ten)
  })

  test('dismisses for good', async () => {
    const { app, walletId, ref } = await startWatched(engine, mode)
    await report(app, sampleReport(ref))
    await report(app, sampleReport(ref, { amount: '11' }))
    await resolveDeposit(app.service, { reference, action: 'dismiss', reason })
    for (const changes of [{ confirmations: needed }, { amount: '11' }, { amount: '12' }, { state: 'REORGED' }]) {
      expect((await report(app, sampleReport(ref, changes))).body.data.state).toBe('DISMISSED')
    }
    expect(await held(app, walletId)).toEqual({ balance: nothing, pending: [] })
  })

  test('is refused where there is nothing to decide', async () => {
    const { app, ref } = await startWatched(engine, mode)
    const decide = (named = reference) =>
      domainErrorOf(() => resolveDeposit(app.service, { reference: named, action: 'credit', reason }))
    expect(await decide()).toMatchObject({ code: 'RESOURCE_NOT_FOUND', message: 'Deposit not found.' })
    await report(app, sampleReport(ref))
    expect((await decide()).details.fields).toMatchObject([
      { field: 'reference', message: 'must be a deposit in attention, but its state is DETECTED' },
    ])
  })
})

test.each(everyEngine)(
  'pending deposits are the merchant’s own, the latest twenty of each wallet, on %s',
  async (engine) => {
    let now = Date.now()
    const { app, walletId, ref } = await startWatched(engine, 'sandbox', () => now)
    const other = await app.wallet({ network: 'erc20' })
    const theirs = await otherWallet(app)
    for (let log = 0; log < 22; log++) {
      now += 1_000
      await report(app, sampleReport(ref, { log_index: log }))
    }
    await report(app, sampleReport(await refOf(app, other), { log_index: 30 }))
    await report(app, sampleReport(theirs.ref, { log_index: 31 }))
    const { data, errors } = await app.graphql('{ wallets(first: 5) { nodes { uuid pendingDeposits { logIndex } } } }')
    expect(errors).toEqual([])
    const byWallet = Object.fromEntries(
      data.wallets.nodes.map(({ uuid, pendingDeposits }: { uuid: string; pendingDeposits: object[] }) => [
        uuid,
        pendingDeposits,
      ]),
    )
    expect(byWallet[walletId]).toEqual(Array.from({ length: 20 }, (_, place) => ({ logIndex: 21 - place })))
    expect(byWallet[other]).toEqual([{ logIndex: 30 }])
    const { data: seen } = await app.graphql(
      '{ wallets(first: 5) { nodes { pendingDeposits { logIndex } } } }',
      {},
      { key: theirs.apiKey },
    )
    expect(seen.wallets.nodes).toEqual([{ pendingDeposits: [{ logIndex: 31 }] }])
  },
)

test.each(everyEngine)('reportDeposit keeps nothing of a report when a fault ends the credit on %s', async (engine) => {
  const { app, walletId, ref } = await startWatched(engine)
  const before = await readStoredRows(app)
  const context = {
    ...app.context(),
    newId: () => {
      throw new Error('no randomness is left')
    },
  }
  const credit = (given: Context) => reportDeposit(given, inputOf(sampleReport(ref, { confirmations: needed })))
  await expect(credit(context)).rejects.toThrow('no randomness is left')
  expect(await readStoredRows(app)).toEqual(before)
  expect((await credit(app.context())).state).toBe('CONFIRMED')
  expect((await held(app, walletId)).balance).toBe(ten)
})

test.each(everyEngine)('reportDeposit rejects the address of another merchant on %s', async (engine) => {
  const { app, ref } = await startWatched(engine)
  const { id } = await app.otherMerchant()
  const refusal = await domainErrorOf(() => reportDeposit(createContext(app.service, id), inputOf(sampleReport(ref))))
  expect([refusal.code, refusal.details.fields]).toMatchObject(['INVALID_INPUT', [{ field: 'ref' }]])
})

/** A posted report as the operation takes it. */
function inputOf({ tx_hash: txHash, log_index: logIndex, ...same }: Record<string, unknown>) {
  return { ...same, txHash, logIndex, rail: 'node' } as Parameters<typeof reportDeposit>[1]
}

/** A wallet of another merchant. */
async function otherWallet(app: App) {
  const { id, apiKey } = await app.otherMerchant()
  await setAddressKey(app, { merchantId: id, account: 2 })
  const context = createContext(app.service, id)
  const input = { currency: 'USDC', description: 'Theirs', network: 'erc20' }
  const { addresses } = await perform(createWallet, context, input)
  return { apiKey, ref: addresses[0]?.id ?? '' }
}
