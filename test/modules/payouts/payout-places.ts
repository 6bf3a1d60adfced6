import { addAssetCode } from '../../../src/modules/asset-codes/add-asset-code.ts'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from '../../../src/modules/payout-methods/create-payout-method.ts'
import type { PayoutMethodType } from '../../../src/modules/payout-methods/payout-method.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { Engine } from '../../support/app.ts'
import { startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'

export const absentId = '019b7679-7400-7000-8000-000000000000'

/** The details of a Nigerian bank account that passes its checks, and of a South African one. */
export const nigerian = {
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
} as const
export const southAfrican = {
  accountNumber: '62012345678',
  bankName: 'First National Bank',
  bankCode: '250655',
  recipientName: 'Thandi Nkosi',
  recipientCurrency: 'ZAR',
  recipientCountry: 'South Africa',
} as const

/** A merchant with wallets, payout methods and customers of every kind that a payout can name, valid or not. */
export async function startWithPlaces(engine: Engine) {
  const app = await startApp(engine, {
    clock: () => Date.parse('2026-03-01T12:00:00.000Z'),
    rates: [
      { fromCode: 'USDC', toCode: 'NGN', rate: '1500' },
      { fromCode: 'USDT', toCode: 'NGN', rate: '1499.5' },
      { fromCode: 'USDC', toCode: 'ZAR', rate: '18.25' },
    ],
  })
  await app.fee('0.25', '1')
  const context = () => app.context()
  await addAssetCode(app.service, { assetType: 'FIAT', code: 'KES', minorUnitPlaces: 2, networks: [] })
  const [payer, other, closed] = [await app.customer(), await app.customer(), await app.customer()]
  const foreign = createContext(app.service, (await app.otherMerchant()).id)

  const bank = async (currency: string, customerId?: string, methodContext = context()) => {
    const { recipientName, accountNumber, bankName, bankCode } = currency === 'ZAR' ? southAfrican : nigerian
    const input = { type: 'BANK', accountName: recipientName, accountNumber, bankName, bankCode, currency } as const
    return (await perform(createBankPayoutMethod, methodContext, { ...input, customerId })).id
  }
  const crypto = {
    type: 'WALLET',
    walletAddress: 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL',
    network: 'trc20',
    currency: 'USDT',
  } as const
  const places = {
    customers: { payer, other, closed },
    methods: {
      ofMerchant: await bank('NGN'),
      ofMerchantZar: await bank('ZAR'),
      ofMerchantKes: await bank('KES'),
      ofPayer: await bank('NGN', payer),
      ofPayerZar: await bank('ZAR', payer),
      ofPayerKes: await bank('KES', payer),
      ofOther: await bank('NGN', other),
      ofClosed: await bank('NGN', closed),
      ofForeign: await bank('NGN', undefined, foreign),
    },
    /** A method of the payer of each type that is not paid to, and what an error calls it. */
    unpaid: {
      WALLET: {
        id: (await perform(createWalletPayoutMethod, context(), { ...crypto, customerId: payer })).id,
        name: 'a crypto address',
      },
    } satisfies Record<Exclude<PayoutMethodType, 'BANK'>, object>,
    wallets: {
      ofMerchant: await app.wallet({ balance: '50' }),
      ofMerchantRich: await app.wallet({ balance: '500' }),
      ofMerchantUsdt: await app.wallet({ assetCode: 'USDT', balance: '70' }),
      ofMerchantNgn: await app.wallet({ assetCode: 'NGN', balance: '90000' }),
      ofPayer: await app.wallet({ balance: '100', customerId: payer }),
      ofPayerUsdt: await app.wallet({ assetCode: 'USDT', customerId: payer }),
      ofOther: await app.wallet({ balance: '1000', customerId: other }),
    },
  }
  await perform(closeCustomer, context(), { customerId: closed })
  return { app, ...places }
}

export type Places = Awaited<ReturnType<typeof startWithPlaces>>
