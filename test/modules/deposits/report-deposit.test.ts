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
import { hashOf, nodeRail, postReport, refOf, sampleReport } from './support/node.ts'

const requiredConfirmations = 64

async function startWatched(setup: Setup, mode: Mode = 'sandbox', clock = Date.now) {
  const app = await startApp(setup, { mode, clock, rails: [nodeRail] })
  await setAddressKey(app)
  const walletId = await app.wallet({ network: 'erc20' })
  return { app, walletId, ref: await refOf(app, walletId) }
}

async function walletState(app: App, walletId: string) {
  const { data } = await app.graphql(
    `query ($id: ID!) { wallet(id: $id) { balance pendingDeposits { network txHash logIndex amount confirmations needed detectedAt } } }`,
    { id: walletId },
  )
  return { balance: data.wallet.balance, pending: data.wallet.pendingDeposits }
}

const zero = '0.00000000'
const ten = '10.00000000'

const setups = [...everyEngineAndMode, ['workers', 'sandbox']] as const

describe.each(setups)('a report of a deposit on %s in %s', (setup, mode) => {
  test('creates a pending deposit and credits it once at the confirmation threshold', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)

    const first = await postReport(app, sampleReport(ref))
    expect([first.status, first.body]).toEqual([
      200,
      {
        status: 'success',
        data: {
          ...{ network: 'erc20', tx_hash: hashOf('one'), log_index: 0, state: 'DETECTED', confirmations: 1 },
          ...{ confirmations_needed: requiredConfirmations, cause: null, credited_at: null },
        },
      },
    ])
    expect(await walletState(app, walletId)).toEqual({
      balance: zero,
      pending: [
        {
          ...{
            network: 'ERC20',
            txHash: hashOf('one'),
            logIndex: 0,
            amount: ten,
            confirmations: 1,
            needed: requiredConfirmations,
          },
          detectedAt: expect.stringMatching(/Z$/),
        },
      ],
    })
    // The number of confirmations decides, not the reported state.
    const belowThreshold = await postReport(
      app,
      sampleReport(ref, { confirmations: requiredConfirmations - 1, state: 'CONFIRMED' }),
    )
    expect(belowThreshold.body.data).toMatchObject({ state: 'DETECTED', confirmations: requiredConfirmations - 1 })
    expect((await walletState(app, walletId)).balance).toBe(zero)

    const confirmed = await postReport(
      app,
      sampleReport(ref, { confirmations: requiredConfirmations, state: 'DETECTED' }),
    )
    expect(confirmed.body.data).toMatchObject({ state: 'CONFIRMED', credited_at: expect.stringMatching(/Z$/) })
    const stored = await readStoredRows(app)
    for (const confirmations of [requiredConfirmations, 900, 1]) {
      const repeated = await postReport(
        app,
        sampleReport(ref, { confirmations, tx_hash: hashOf('one').toUpperCase().replace('0X', '0x') }),
      )
      expect(repeated.body.data).toMatchObject({ state: 'CONFIRMED', tx_hash: hashOf('one') })
    }
    expect(await readStoredRows(app)).toEqual(stored)
    expect(await walletState(app, walletId)).toEqual({ balance: ten, pending: [] })
    const { data } = await app.graphql(`{ events(first: 10) { nodes { type } } }`)
    expect(data.events.nodes.at(-1)).toEqual({ type: 'WALLET_TRANSACTION_INBOUND' })
    await app.expectBooksToBalance()
  })

  test('keeps the highest number of confirmations when reports arrive out of order', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    await postReport(app, sampleReport(ref, { confirmations: 5 }))
    const stored = await readStoredRows(app)
    for (const confirmations of [3, 5, 1]) await postReport(app, sampleReport(ref, { confirmations }))
    expect((await walletState(app, walletId)).pending).toMatchObject([{ confirmations: 5 }])
    expect(await readStoredRows(app)).toEqual(stored)
  })

  test('without confirmations creates a pending deposit', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    const { status, body } = await postReport(app, sampleReport(ref, { confirmations: 0 }))
    expect([status, body.data.state]).toEqual([200, 'DETECTED'])
    expect(await walletState(app, walletId)).toMatchObject({ balance: zero, pending: [{ confirmations: 0 }] })
  })

  test('with the state REORGED removes a pending deposit, and a later report adds the deposit again', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    await postReport(app, sampleReport(ref, { confirmations: 9 }))
    const dropped = await postReport(app, sampleReport(ref, { confirmations: 0, state: 'REORGED' }))
    expect(dropped.body.data).toMatchObject({ state: 'REORGED', cause: null })
    expect(await walletState(app, walletId)).toEqual({ balance: zero, pending: [] })
    await postReport(app, sampleReport(ref, { confirmations: 2 }))
    expect((await walletState(app, walletId)).pending).toMatchObject([{ confirmations: 2 }])
    await postReport(app, sampleReport(ref, { confirmations: requiredConfirmations }))
    expect((await walletState(app, walletId)).balance).toBe(ten)
  })

  test('with the state REORGED puts a credited deposit on the attention queue and debits nothing', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    await postReport(app, sampleReport(ref, { confirmations: requiredConfirmations }))
    const dropped = await postReport(app, sampleReport(ref, { confirmations: 0, state: 'REORGED' }))
    const cause = 'the chain has let go of it after it was credited'
    expect(dropped.body.data).toMatchObject({ state: 'ATTENTION', cause })
    await postReport(app, sampleReport(ref, { confirmations: requiredConfirmations }))
    expect(await walletState(app, walletId)).toEqual({ balance: ten, pending: [] })
    const queued = await listDepositAttention(app.service, {})
    expect(queued).toMatchObject([{ walletId, reference: `erc20:${hashOf('one')}:0`, cause, amount: 1_000_000_000n }])
    // The same transaction in another block has other log indexes.
    const repeated = await postReport(app, sampleReport(ref, { confirmations: requiredConfirmations, log_index: 3 }))
    expect(repeated.body.data).toMatchObject({
      state: 'ATTENTION',
      cause: expect.stringContaining(':0 has the same amount'),
    })
    expect((await walletState(app, walletId)).balance).toBe(ten)
    await app.expectBooksToBalance()
  })

  test.each([
    ['a pending deposit', 1, zero],
    ['a credited deposit', requiredConfirmations, ten],
  ])(
    'that contradicts an earlier report puts %s on the attention queue and moves no money',
    async (_, confirmations, balance) => {
      const { app, walletId, ref } = await startWatched(setup, mode)
      const [other, foreignWallet] = [await app.wallet({ network: 'erc20' }), await otherWallet(app)]
      for (const [log, changes] of [
        [0, { amount: '11' }],
        [1, { ref: await refOf(app, other) }],
        [2, { ref: foreignWallet.ref }],
      ] as const) {
        await postReport(app, sampleReport(ref, { confirmations, log_index: log, amount: log === 0 ? '10' : '1' }))
        const response = await postReport(
          app,
          sampleReport(ref, { confirmations: requiredConfirmations, log_index: log, amount: '1', ...changes }),
        )
        expect(response.body.data).toMatchObject({
          state: 'ATTENTION',
          cause: expect.stringMatching(/^it was reported/),
        })
        await postReport(
          app,
          sampleReport(ref, { confirmations: requiredConfirmations, log_index: log, amount: log === 0 ? '10' : '1' }),
        )
      }
      expect(await walletState(app, walletId)).toEqual({
        balance: confirmations === 1 ? zero : '12.00000000',
        pending: [],
      })
      expect((await walletState(app, other)).balance).toBe(zero)
      expect(await listDepositAttention(app.service, {})).toHaveLength(3)
      expect((await readStoredRows(app)).deposits).toHaveLength(balance === zero ? 0 : 3)
      await app.expectBooksToBalance()
    },
  )

  test('with invalid fields stores nothing, and the response lists every invalid field', async () => {
    const { app, ref } = await startWatched(setup, mode)
    const before = await readStoredRows(app)
    const rejection = async (changes: object) => {
      const { status, body } = await postReport(app, sampleReport(ref, changes as Record<string, unknown>))
      const { code, details } = body.error
      return [status, code, details.fields.map(({ field, code }: Record<string, string>) => `${field} ${code}`).join()]
    }
    const messagesOf = async (changes: object) => {
      const { body } = await postReport(app, sampleReport(ref, changes as Record<string, unknown>))
      return body.error.details.fields.map(({ message }: { message: string }) => message)
    }
    const code = 'INVALID_INPUT'
    expect(await rejection({ ref: crypto.randomUUID() })).toEqual([400, code, 'ref INVALID_PARAMETER'])
    expect(await rejection({ ref: 'nobody' })).toEqual([400, code, 'ref INVALID_FORMAT'])
    expect(await rejection({ asset: 'USDT' })).toEqual([400, code, 'asset INVALID_PARAMETER'])
    expect(await rejection({ network: 'polygon', asset: 'EUR' })).toEqual([
      ...[400, code, 'network INVALID_PARAMETER,asset INVALID_PARAMETER'],
    ])
    // The hash must have the format of the network, if the network is known and the hash is a string.
    expect(await rejection({ network: 'bitcoin' })).toEqual([400, code, 'network INVALID_PARAMETER'])
    expect(await rejection({ tx_hash: 17 })).toEqual([400, code, 'tx_hash INVALID_FORMAT'])
    expect(await rejection({ tx_hash: ' ' })).toEqual([400, code, 'tx_hash MISSING_REQUIRED_FIELD'])
    for (const amount of ['0', '-1', '1.123456789', '12345678901', 1]) {
      expect(await rejection({ amount })).toEqual([400, code, 'amount INVALID_FORMAT'])
    }
    for (const tx_hash of ['0x12', hashOf('one').slice(2), `${hashOf('one')} x`]) {
      expect(await rejection({ tx_hash })).toEqual([400, code, 'tx_hash INVALID_FORMAT'])
    }
    expect(
      await rejection({ log_index: -1, confirmations: 1.5, state: 'GONE', tx_hash: undefined, network: 'bitcoin' }),
    ).toEqual([
      ...[400, code],
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

  test('with spaces around the transaction hash updates the same deposit', async () => {
    const { app, ref } = await startWatched(setup, mode)
    await postReport(app, sampleReport(ref))
    const repeated = await postReport(app, sampleReport(ref, { tx_hash: ` ${hashOf('one')} `, confirmations: 2 }))
    expect(repeated.body.data).toMatchObject({ tx_hash: hashOf('one'), confirmations: 2 })
    expect((await readStoredRows(app)).chain_deposits).toHaveLength(1)
  })

  test('for a full wallet puts the deposit on the attention queue', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    for (let i = 0; i < 9; i++) {
      await depositToWallet(app.context(), { walletId, amount: '9999999999.99999999', reference: `${i}` })
    }
    const response = await postReport(
      app,
      sampleReport(ref, { amount: '9999999999', confirmations: requiredConfirmations }),
    )
    expect(response.body.data).toMatchObject({
      state: 'ATTENTION',
      cause: expect.stringMatching(/^The wallet could exceed/),
    })
    expect((await readStoredRows(app)).deposits).toHaveLength(9)
    await app.expectBooksToBalance()
  })

  test('credits nothing if an operator has already credited a deposit with its reference', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    const reference = (log: number) => `erc20:${hashOf('one')}:${log}`
    await depositToWallet(app.context(), { walletId, amount: '10', reference: reference(0) })
    await depositToWallet(app.context(), { walletId, amount: '7', reference: reference(1) })
    const same = await postReport(app, sampleReport(ref, { confirmations: requiredConfirmations }))
    const other = await postReport(app, sampleReport(ref, { confirmations: requiredConfirmations, log_index: 1 }))
    expect([same.body.data.state, other.body.data.state]).toEqual(['CONFIRMED', 'ATTENTION'])
    expect((await walletState(app, walletId)).balance).toBe('17.00000000')
  })

  test('credits the deposit once even if 20 reports of the deposit arrive concurrently', async () => {
    const { app, walletId, ref } = await startWatched(setup, mode)
    const reports = Array.from({ length: 20 }, (_, i) => sampleReport(ref, { confirmations: 50 + i }))
    await Promise.all(reports.map((each) => postReport(app, each)))
    expect(await walletState(app, walletId)).toEqual({ balance: ten, pending: [] })
    expect((await readStoredRows(app)).deposits).toHaveLength(1)
    await app.expectBooksToBalance()
  })
})

describe.each(everyEngineAndMode)('resolveDeposit on %s in %s', (engine, mode) => {
  const reference = `erc20:${hashOf('one')}:0`
  const reason = 'seen by Ada'

  test('credits an uncredited deposit once and stores the operator’s reason', async () => {
    const { app, walletId, ref } = await startWatched(engine, mode)
    await postReport(app, sampleReport(ref))
    for (const amount of ['11', '12']) await postReport(app, sampleReport(ref, { amount }))
    const resolved = await resolveDeposit(app.service, { reference, action: 'credit', reason })
    expect(resolved).toMatchObject({
      ...{ state: 'CONFIRMED', depositReference: reference },
      cause: `it was reported as ${ten} and as 11.00000000; ${reason}`,
    })
    expect((await walletState(app, walletId)).balance).toBe(ten)
    expect(await listDepositAttention(app.service, {})).toEqual([])
    expect((await domainErrorOf(() => resolveDeposit(app.service, { reference, action: 'credit', reason }))).code).toBe(
      'INVALID_INPUT',
    )
    await app.expectBooksToBalance()
  })

  test('accepts the action `credit` for a credited deposit in the attention queue, and rejects the action `dismiss`', async () => {
    let nowMs = Date.now()
    const { app, walletId, ref } = await startWatched(engine, mode, () => nowMs)
    const credited = await postReport(app, sampleReport(ref, { confirmations: requiredConfirmations }))
    nowMs += 60_000
    await postReport(app, sampleReport(ref, { state: 'REORGED' }))
    const error = await domainErrorOf(() => resolveDeposit(app.service, { reference, action: 'dismiss', reason }))
    expect(error.details.fields).toMatchObject([
      { field: 'action', message: 'must be credit: the money is in the wallet' },
    ])
    const resolved = await resolveDeposit(app.service, { reference, action: 'credit', reason })
    expect(resolved).toMatchObject({ state: 'CONFIRMED', creditedAt: credited.body.data.credited_at })
    expect((await walletState(app, walletId)).balance).toBe(ten)
    expect((await readStoredRows(app)).deposits).toHaveLength(1)
  })

  test('resolves one contradiction, after which a different contradiction puts the deposit on the queue again', async () => {
    const { app, walletId, ref } = await startWatched(engine, mode)
    await postReport(app, sampleReport(ref, { confirmations: requiredConfirmations }))
    const contradiction = { confirmations: requiredConfirmations, amount: '11' }
    await postReport(app, sampleReport(ref, contradiction))
    await resolveDeposit(app.service, { reference, action: 'credit', reason })
    for (const changes of [contradiction, { confirmations: requiredConfirmations }]) {
      expect((await postReport(app, sampleReport(ref, changes))).body.data.state).toBe('CONFIRMED')
    }
    expect((await postReport(app, sampleReport(ref, { ...contradiction, amount: '1' }))).body.data).toMatchObject({
      state: 'ATTENTION',
      cause: `it was reported as ${ten} and as 1.00000000`,
    })
    expect((await walletState(app, walletId)).balance).toBe(ten)
  })

  test('dismisses a deposit permanently, so that later reports do not change it', async () => {
    const { app, walletId, ref } = await startWatched(engine, mode)
    await postReport(app, sampleReport(ref))
    await postReport(app, sampleReport(ref, { amount: '11' }))
    await resolveDeposit(app.service, { reference, action: 'dismiss', reason })
    for (const changes of [
      { confirmations: requiredConfirmations },
      { amount: '11' },
      { amount: '12' },
      { state: 'REORGED' },
    ]) {
      expect((await postReport(app, sampleReport(ref, changes))).body.data.state).toBe('DISMISSED')
    }
    expect(await walletState(app, walletId)).toEqual({ balance: zero, pending: [] })
  })

  test('rejects a deposit that is unknown or not on the attention queue', async () => {
    const { app, ref } = await startWatched(engine, mode)
    const decide = (named = reference) =>
      domainErrorOf(() => resolveDeposit(app.service, { reference: named, action: 'credit', reason }))
    expect(await decide()).toMatchObject({ code: 'RESOURCE_NOT_FOUND', message: 'Deposit not found.' })
    await postReport(app, sampleReport(ref))
    expect((await decide()).details.fields).toMatchObject([
      { field: 'reference', message: 'must be a deposit in attention, but its state is DETECTED' },
    ])
  })
})

test.each(everyEngine)(
  'on %s, pendingDeposits returns the latest twenty deposits of a wallet and no deposits of other merchants',
  async (engine) => {
    let nowMs = Date.now()
    const { app, walletId, ref } = await startWatched(engine, 'sandbox', () => nowMs)
    const other = await app.wallet({ network: 'erc20' })
    const foreignWallet = await otherWallet(app)
    for (let log = 0; log < 22; log++) {
      nowMs += 1_000
      await postReport(app, sampleReport(ref, { log_index: log }))
    }
    await postReport(app, sampleReport(await refOf(app, other), { log_index: 30 }))
    await postReport(app, sampleReport(foreignWallet.ref, { log_index: 31 }))
    const { data, errors } = await app.graphql('{ wallets(first: 5) { nodes { uuid pendingDeposits { logIndex } } } }')
    expect(errors).toEqual([])
    const byWallet = Object.fromEntries(
      data.wallets.nodes.map(({ uuid, pendingDeposits }: { uuid: string; pendingDeposits: object[] }) => [
        uuid,
        pendingDeposits,
      ]),
    )
    expect(byWallet[walletId]).toEqual(Array.from({ length: 20 }, (_, index) => ({ logIndex: 21 - index })))
    expect(byWallet[other]).toEqual([{ logIndex: 30 }])
    const { data: foreignData } = await app.graphql(
      '{ wallets(first: 5) { nodes { pendingDeposits { logIndex } } } }',
      {},
      { key: foreignWallet.apiKey },
    )
    expect(foreignData.wallets.nodes).toEqual([{ pendingDeposits: [{ logIndex: 31 }] }])
  },
)

test.each(everyEngine)('on %s, reportDeposit stores nothing when the credit fails', async (engine) => {
  const { app, walletId, ref } = await startWatched(engine)
  const before = await readStoredRows(app)
  const context = {
    ...app.context(),
    newId: () => {
      throw new Error('no randomness is left')
    },
  }
  const credit = (creditContext: Context) =>
    reportDeposit(creditContext, inputOf(sampleReport(ref, { confirmations: requiredConfirmations })))
  await expect(credit(context)).rejects.toThrow('no randomness is left')
  expect(await readStoredRows(app)).toEqual(before)
  expect((await credit(app.context())).state).toBe('CONFIRMED')
  expect((await walletState(app, walletId)).balance).toBe(ten)
})

test.each(everyEngine)('on %s, reportDeposit rejects the address of another merchant', async (engine) => {
  const { app, ref } = await startWatched(engine)
  const { id } = await app.otherMerchant()
  const error = await domainErrorOf(() => reportDeposit(createContext(app.service, id), inputOf(sampleReport(ref))))
  expect([error.code, error.details.fields]).toMatchObject(['INVALID_INPUT', [{ field: 'ref' }]])
})

function inputOf({ tx_hash: txHash, log_index: logIndex, ...same }: Record<string, unknown>) {
  return { ...same, txHash, logIndex, rail: 'node' } as Parameters<typeof reportDeposit>[1]
}

async function otherWallet(app: App) {
  const { id, apiKey } = await app.otherMerchant()
  await setAddressKey(app, { merchantId: id, account: 2 })
  const context = createContext(app.service, id)
  const input = { currency: 'USDC', description: 'Theirs', network: 'erc20' }
  const { addresses } = await perform(createWallet, context, input)
  return { apiKey, ref: addresses[0]?.id ?? '' }
}
