import type { Context, Service } from '../../src/context.ts'
import { createContext, createService } from '../../src/context.ts'
import { closeCustomer } from '../../src/customers/close-customer.ts'
import { createCustomer } from '../../src/customers/create-customer.ts'
import { setFee } from '../../src/fees/set-fee.ts'
import { timestamp } from '../../src/ids.ts'
import type { ApiKey } from '../../src/merchants/api-key.ts'
import { formatApiKey, parseApiKey } from '../../src/merchants/api-key.ts'
import { createMerchant } from '../../src/merchants/create-merchant.ts'
import { createKey, revokeKey } from '../../src/merchants/keys.ts'
import { allMerchants, apiKeyById } from '../../src/merchants/repository.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from '../../src/payout-methods/create-payout-method.ts'
import { createPayout } from '../../src/payouts/create-payout.ts'
import { settlePayout } from '../../src/payouts/settle-payout.ts'
import { setRate } from '../../src/rates/set-rate.ts'
import { createWallet } from '../../src/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/wallets/deposit-to-wallet.ts'
import { bankMethods, customers, fees, payouts, rates, walletMethods, wallets } from './story.ts'

const demoMerchantName = 'Demo merchant'

/** The demo merchant's key: the same everywhere, so that examples work when pasted. Live mode refuses it. */
export const demoKey: ApiKey = {
  mode: 'sandbox',
  id: 'de300000000000de',
  secret: 'de30'.repeat(12),
}
export const demoApiKey = formatApiKey(demoKey)

/**
 * Gives an empty database the demo merchant, by calling operations as anyone would; its month of history ends now.
 *
 * The fixed key comes last, so a seeding that was cut short is not taken for a whole one.
 *
 * @returns whether the demo is there; it is not where somebody else's merchants are
 */
export async function seedDemo(service: Service): Promise<boolean> {
  if (await apiKeyById(service.db, { id: demoKey.id })) return true
  const merchants = await allMerchants(service.db, {})
  if (merchants.some(({ name }) => name !== demoMerchantName)) return false

  const past = createService({ ...service, clock: clockOfLastMonth(service.now()) })
  const merchant = await createMerchant(past, { name: demoMerchantName })
  await setPrices(past)
  await tellStory(createContext(past, merchant.id))

  const firstKey = parseApiKey(merchant.apiKey)
  if (firstKey) await revokeKey(service, firstKey.id)
  await createKey(service, merchant.id, demoKey)
  return true
}

/** Starts thirty days ago and moves on by five hours whenever it is read, until it reaches now. */
function clockOfLastMonth(now: number): () => number {
  const step = 5 * 60 * 60 * 1000
  let at = now - 30 * 24 * 60 * 60 * 1000
  return () => {
    at = Math.min(now, at + step)
    return at
  }
}

async function setPrices(service: Service): Promise<void> {
  const effectiveAt = timestamp(service.now())
  for (const rate of rates) await setRate(service, { ...rate, effectiveAt })
  for (const fee of fees) await setFee(service, { ...fee, effectiveAt })
}

async function tellStory(context: Context): Promise<void> {
  const customerIds = new Map<string, string>()
  const idOf = (name: string | null) => (name === null ? null : customerIds.get(name))

  for (const { name, isClosed: _, ...customer } of customers) {
    customerIds.set(name, (await createCustomer(context, customer)).id)
  }
  for (const { owner, ...method } of bankMethods) {
    await createBankPayoutMethod(context, { type: 'BANK', ...method, customerId: idOf(owner) })
  }
  for (const { owner, ...method } of walletMethods) {
    await createWalletPayoutMethod(context, { type: 'WALLET', ...method, customerId: idOf(owner) })
  }
  for (const { owner, deposit, ...wallet } of wallets) {
    const { id: walletId } = await createWallet(context, { ...wallet, customerId: idOf(owner) })
    if (deposit) await depositToWallet(context, { walletId, amount: deposit, reference: `demo deposit ${walletId}` })
  }
  for (const { owner, path, ...payout } of payouts) {
    const { id: payoutId } = await createPayout(context, { ...payout, customerId: idOf(owner) })
    for (const { status, cause } of path) await settlePayout(context, { payoutId, status, cause })
  }
  // Closed last: nothing can be made for a closed customer, and its history shows what it did before.
  for (const { name, isClosed } of customers) {
    if (isClosed) await closeCustomer(context, { customerId: idOf(name) ?? '' })
  }
}
