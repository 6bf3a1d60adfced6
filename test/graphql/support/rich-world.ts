import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from '../../../src/modules/payout-methods/create-payout-method.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { simulatePayout } from '../../../src/modules/payouts/simulate-payout.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { Service } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import { sampleCustomer } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'

/** Texts with characters that JSON must escape, or must not. */
const oddTexts = [
  'Say "no" \\ or \\"yes\\"',
  `Lines${'\u2028'}and${'\u2029'}paragraphs`,
  'Emoji 👩‍🚀 and ẽ́ 漢字',
  'x'.repeat(200),
  `</script>\${1}'`,
  '0',
] as const

/**
 * Texts that no operation accepts but that direct access to the database could write: control characters, and
 * the empty text.
 */
const rawTexts = ['\u0001\u001f\b\f\r\n\t"\\\u007f', '']

type Filled = { readonly merchantId: string; readonly idempotencyKeys: readonly string[] }

/**
 * Fills a database with every kind of row and text: persons and companies, one closed and one without anything;
 * wallets of many currencies, some empty; payouts in every status, with and without a payout method; entries of
 * every kind; payout methods of both types, with all and with the fewest fields.
 *
 * @param forward advances the service's clock, so that rows have times of their own
 */
export async function seedRichData(service: Service, url: string, forward: () => void): Promise<Filled> {
  const { id: merchantId } = await createMerchant(service, { name: oddTexts[0] })
  const context = (key: string | null = null) => {
    forward()
    return createContext(service, merchantId, key)
  }
  const idempotencyKeys: string[] = []
  const text = (place: number) => oddTexts[place % oddTexts.length] as string

  const person = (place: number) =>
    perform(createCustomer, context(), { ...sampleCustomer, firstName: text(place), city: text(place + 1) })
  const company = (place: number) =>
    perform(createCustomer, context(), {
      ...sampleCustomer,
      customerType: 'business',
      businessName: text(place),
      businessType: text(place + 1),
      addressLine2: text(place + 2),
      birthDate: '1990-01-31',
      expectedMonthlyIncome: '2400.5',
      sourceOfFunds: text(place + 3),
    })
  const customers = [await person(1), await company(2), await person(3), await company(4)]
  const closed = await person(5)
  const owners = [null, ...customers.slice(0, 3).map(({ id }) => id)]

  const bank = (customerId: string | null, place: number) =>
    perform(createBankPayoutMethod, context(), {
      type: 'BANK',
      customerId,
      currency: place % 2 === 0 ? 'NGN' : 'ZAR',
      accountName: text(place),
      accountNumber: '0690000032',
      bankName: text(place + 1),
      bankCode: '044',
      ...(place % 2 === 0 && { iban: 'GB82WEST12345698765432', swiftCode: 'DEUTDEFF', sortCode: '040' }),
    })
  const crypto = (customerId: string | null, place: number) =>
    perform(createWalletPayoutMethod, context(), {
      type: 'WALLET',
      customerId,
      currency: 'USDC',
      walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      network: 'erc20',
      label: place % 2 === 0 ? null : text(place).slice(0, 100),
    })
  const wallet = async (customerId: string | null, currency: string, place: number) => {
    const network = currency.startsWith('USD') ? 'solana' : null
    const wallet = await perform(createWallet, context(), { currency, description: text(place), customerId, network })
    if (place % 3 === 2) return wallet
    for (const amount of ['1000.5', '0.00000001'])
      await depositToWallet(context(), {
        walletId: wallet.id,
        amount: currency.startsWith('USD') ? amount : '7.25',
        reference: `${wallet.id} ${amount} ${text(place)}`.slice(0, 100),
      })
    return wallet
  }
  const pay = async (customerId: string | null, place: number, payoutMethodId: string | null) => {
    const key = `key ${place} "of" ${customerId}`
    const recipient = payoutMethodId
      ? { payoutMethodId }
      : {
          accountNumber: '0690000032',
          bankName: text(place),
          bankCode: '044',
          recipientName: text(place + 1),
          recipientCurrency: 'NGN' as const,
          recipientCountry: 'Nigeria' as const,
        }
    const narration = place % 2 === 0 ? text(place + 2) : null
    const input = { customerId, assetCode: 'USDC' as const, amount: `${place + 1}.5`, narration, ...recipient }
    const { id: payoutId } = await perform(createPayout, context(key), input)
    idempotencyKeys.push(key)
    const statuses = [[], ['COMPLETED'], ['FAILED'], ['COMPLETED', 'RETURNED']][place % 4] as readonly 'COMPLETED'[]
    for (const status of statuses) {
      await perform(simulatePayout, context(), { payoutId, status, cause: place % 3 === 0 ? null : text(place + 3) })
    }
  }
  let place = 0
  for (const customerId of owners) {
    const methods = [await bank(customerId, place), await bank(customerId, place + 2)]
    await crypto(customerId, place)
    for (const currency of ['USDC', 'NGN', 'USDT']) await wallet(customerId, currency, place++)
    await wallet(customerId, 'USDC', 0)
    for (let i = 0; i < 4; i++) await pay(customerId, place + i, i === 0 ? ((methods[0]?.id as string) ?? null) : null)
    place++
  }
  await wallet(closed.id, 'ZAR', 1)
  await perform(closeCustomer, context(), { customerId: closed.id })
  await writeRawTexts(url, merchantId)
  return { merchantId, idempotencyKeys }
}

async function writeRawTexts(url: string, merchantId: string): Promise<void> {
  const path = /^sqlite:(.+)/.exec(url)?.[1]
  const sqlite = path === undefined ? null : new Sqlite(path)
  const client = sqlite ? null : new pg.Client(url)
  await client?.connect()
  for (const [place, text] of rawTexts.entries()) {
    const parameter = client ? ['$1', '$2'] : ['?', '?']
    const statement = `update wallets set description = ${parameter[0]} where id = (
      select id from wallets where merchant_id = ${parameter[1]} order by id limit 1 offset ${place})`
    sqlite?.prepare(statement).run(text, merchantId)
    await client?.query(statement, [text, merchantId])
  }
  sqlite?.close()
  await client?.end()
}
