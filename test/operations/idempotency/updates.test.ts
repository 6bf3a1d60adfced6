import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { updateCustomer } from '../../../src/modules/customers/update-customer.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from '../../../src/modules/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../../../src/modules/payout-methods/delete-payout-method.ts'
import { updateBankPayoutMethod } from '../../../src/modules/payout-methods/update-bank-payout-method.ts'
import { updateWalletPayoutMethod } from '../../../src/modules/payout-methods/update-wallet-payout-method.ts'
import type { Context, IdempotentResult, Operation } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'

const bank = {
  type: 'BANK' as const,
  accountName: 'Ada Obi',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  currency: 'NGN',
  bankCode: '044',
  sortCode: '123456',
}

const cryptoAddress = {
  type: 'WALLET' as const,
  currency: 'USDC',
  network: 'erc20' as const,
  walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  label: 'Cold',
}

type Objects = { customerId: string; payoutMethodId: string; walletMethodId: string }

async function startWithObjects(engine: (typeof everyEngine)[number]) {
  const app = await startApp(engine)
  const customerId = await app.customer({ addressLine2: 'Floor 1' })
  const { id: payoutMethodId } = await perform(createBankPayoutMethod, app.context(), bank)
  const { id: walletMethodId } = await perform(createWalletPayoutMethod, app.context(), cryptoAddress)
  return { app, things: { customerId, payoutMethodId, walletMethodId } }
}

const withKey = (app: App): Context => ({ ...app.context(), idempotencyKey: 'the key' })

/** Each operation with an input, the same input in another spelling, and inputs that differ minimally. */
const updates: readonly {
  name: string
  run: Operation<never, IdempotentResult<object>>
  input: (things: Objects) => object
  same: (things: Objects) => object
  others: (things: Objects) => readonly object[]
}[] = [
  {
    name: 'updateCustomer',
    run: updateCustomer,
    input: ({ customerId }) => ({ customerId, addressLine2: null, city: 'Abuja' }),
    same: ({ customerId }) => ({ city: ' Abuja', addressLine2: '', customerId: customerId.toUpperCase() }),
    others: ({ customerId }) => [
      { customerId, city: 'Abuja' },
      { customerId, addressLine2: null },
      { customerId, addressLine2: null, city: 'Abuja', postalCode: null },
      { customerId, addressLine2: 'Floor 2', city: 'Abuja' },
    ],
  },
  {
    name: 'closeCustomer',
    run: closeCustomer,
    input: ({ customerId }) => ({ customerId }),
    same: ({ customerId }) => ({ customerId: customerId.toUpperCase() }),
    others: ({ payoutMethodId }) => [{ customerId: payoutMethodId }],
  },
  {
    name: 'updateBankPayoutMethod',
    run: updateBankPayoutMethod,
    input: ({ payoutMethodId }) => ({ payoutMethodId, sortCode: null, bankName: 'Other Bank' }),
    same: ({ payoutMethodId }) => ({
      bankName: 'Other Bank ',
      type: 'BANK',
      sortCode: '',
      payoutMethodId,
      customerId: null,
    }),
    others: ({ payoutMethodId }) => [
      { payoutMethodId, bankName: 'Other Bank' },
      { payoutMethodId, sortCode: null },
      { payoutMethodId, sortCode: null, bankName: 'Other Bank', iban: null },
    ],
  },
  {
    name: 'updateWalletPayoutMethod',
    run: updateWalletPayoutMethod,
    input: ({ walletMethodId }) => ({ payoutMethodId: walletMethodId, label: null, network: 'polygon' }),
    same: ({ walletMethodId }) => ({
      network: 'polygon',
      type: 'WALLET',
      label: ' ',
      payoutMethodId: walletMethodId.toUpperCase(),
      customerId: null,
    }),
    others: ({ walletMethodId }) => [
      { payoutMethodId: walletMethodId, network: 'polygon' },
      { payoutMethodId: walletMethodId, label: null },
      { payoutMethodId: walletMethodId, label: null, network: 'bep20' },
      { payoutMethodId: walletMethodId, label: null, network: 'polygon', currency: 'USDC' },
    ],
  },
  {
    name: 'deletePayoutMethod',
    run: deletePayoutMethod,
    input: ({ payoutMethodId }) => ({ payoutMethodId }),
    same: ({ payoutMethodId }) => ({ payoutMethodId: payoutMethodId.toUpperCase(), customerId: null }),
    others: ({ payoutMethodId, customerId }) => [{ payoutMethodId, customerId }, { payoutMethodId: customerId }],
  },
]

describe.each(everyEngine)('ruling 22: an idempotency key of an update on %s', (engine) => {
  test.each(updates)(
    'makes a repeated $name return the first result and change nothing',
    async ({ run, input, same }) => {
      const { app, things } = await startWithObjects(engine)
      const { result } = await run(withKey(app), input(things) as never)
      const before = await readStoredRows(app)

      for (const repeatedInput of [input, same]) {
        expect(await run(withKey(app), repeatedInput(things) as never)).toEqual({ result, isReplayed: true })
      }
      expect(await readStoredRows(app)).toEqual(before)
    },
  )

  test.each(updates)('that was used for $name rejects any other input', async ({ run, input, others }) => {
    const { app, things } = await startWithObjects(engine)
    await run(withKey(app), input(things) as never)
    const before = await readStoredRows(app)

    for (const other of others(things)) {
      const { code } = await domainErrorOf(() => run(withKey(app), other as never))
      expect([other, code]).toEqual([other, 'IDEMPOTENCY_KEY_REUSED'])
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test.each(updates)('that was used for another operation does not affect $name', async ({ name, run, input }) => {
    const { app, things } = await startWithObjects(engine)
    for (const other of updates.filter((each) => each.name !== name && each.name !== 'closeCustomer')) {
      await other.run(withKey(app), other.input(things) as never).catch(() => {})
    }
    const outcome = await run(withKey(app), input(things) as never).catch((error) => error)
    expect(outcome.isReplayed ?? outcome.code).not.toBe(true)
    expect(outcome.code).not.toBe('IDEMPOTENCY_KEY_REUSED')
  })
})
