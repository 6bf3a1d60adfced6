import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { parseInput } from '../../core/input.ts'
import { createCustomer } from '../../modules/customers/create-customer.ts'
import { createMerchant } from '../../modules/merchants/create-merchant.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from '../../modules/payout-methods/create-payout-method.ts'
import { rateInForce } from '../../modules/pricing/rates/repository.ts'
import { setRate } from '../../modules/pricing/rates/set-rate.ts'
import { createWallet } from '../../modules/wallets/create-wallet.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext, createService } from '../../operations/context.ts'
import type { SeededRandom } from './fake-data.ts'
import { createRandom, fakeBankMethod, fakeCustomer, fakeWalletMethod } from './fake-data.ts'
import type { OnSeedProgress } from './seed-payouts.ts'
import { seedPayouts } from './seed-payouts.ts'

const rowCount = (most: number) => z.number().int().min(0).max(most)

export const SeedInput = z.object({
  merchants: z.number().int().min(1).max(10_000),
  customers: rowCount(1_000_000),
  methods: rowCount(1_000_000),
  wallets: rowCount(1_000_000),
  payouts: rowCount(100_000_000),
  seed: z.number().int().min(0).max(4_294_967_295),
})

/** What was made, for each merchant with its key: the data is for load, not for keeping. */
export type SeededMerchant = { readonly id: string; readonly name: string; readonly apiKey: string }

/** Days over which the data spreads, so that it looks as if it had grown. */
const historyDays = 90

/**
 * Makes realistic data for load and trials: `merchants`, each with so many customers, methods, wallets and payouts.
 *
 * All but payouts are made by the operations themselves. Payouts are written in bulk, with the same rows and ledger
 * entries as the operations write, so an audit finds nothing afterwards.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function seedLoadData(
  service: Service,
  input: z.input<typeof SeedInput>,
  onProgress: OnSeedProgress = () => {},
): Promise<SeededMerchant[]> {
  const sizes = parseInput(SeedInput, input)
  if (sizes.payouts > 0 && sizes.wallets === 0) {
    throw invalidInput([{ field: 'wallets', code: 'INVALID_PARAMETER', message: 'must be at least 1 to have payouts' }])
  }
  const random = createRandom(sizes.seed)
  const past = createService({ ...service, clock: historyClock(service.now(), sizes) })
  await ensureRates(past)

  const filled: SeededMerchant[] = []
  for (let number = 1; number <= sizes.merchants; number++) {
    const merchant = await createMerchant(past, { name: `Merchant ${sizes.seed}-${number}` })
    filled.push(merchant)
    const context = createContext(past, merchant.id)
    const customerIds = await createMany('customers', sizes.customers, onProgress, () =>
      createFakeCustomer(context, random),
    )
    const pickOwner = () => (customerIds.length > 0 && random.chance(0.8) ? random.pick(customerIds) : null)
    await createMany('methods', sizes.methods, onProgress, () => createFakeMethod(context, random, pickOwner()))
    await createMany('wallets', sizes.wallets, onProgress, (place) =>
      createFakeWallet(context, place === 0 ? null : pickOwner(), place),
    )
    await seedPayouts(context, { random, payouts: sizes.payouts, onProgress })
  }
  return filled
}

/** Spreads the data evenly over the days before now, by the number of times that the clock is read. */
function historyClock(now: number, sizes: z.output<typeof SeedInput>): () => number {
  const rows = sizes.customers + sizes.methods + sizes.wallets + sizes.payouts
  const span = historyDays * 24 * 60 * 60 * 1000
  const step = span / (sizes.merchants * (rows * 6 + 100))
  let at = now - span
  return () => {
    at = Math.min(now, at + step)
    return Math.floor(at)
  }
}

/** Payouts need a price: an empty database gets one for each pair. */
async function ensureRates(service: Service): Promise<void> {
  const at = new Date(service.now()).toISOString()
  for (const fromCode of ['USDC', 'USDT']) {
    for (const [toCode, rate] of [
      ['NGN', '1545.5'],
      ['ZAR', '18.2'],
    ] as const) {
      if (!(await rateInForce(service.db, { fromCode, toCode, at }))) await setRate(service, { fromCode, toCode, rate })
    }
  }
}

/** Makes `total` things, several at a time, because those that are made together share a commit. */
async function createMany<Made>(
  noun: string,
  total: number,
  onProgress: OnSeedProgress,
  make: (place: number) => Promise<Made>,
): Promise<Made[]> {
  const together = 200
  const made: Made[] = []
  while (made.length < total) {
    const places = Array.from({ length: Math.min(together, total - made.length) }, (_, i) => made.length + i)
    made.push(...(await Promise.all(places.map(make))))
    onProgress(noun, made.length, total)
  }
  return made
}

async function createFakeCustomer(context: Context, random: SeededRandom): Promise<string> {
  return (await createCustomer(context, fakeCustomer(random))).result.id
}

async function createFakeMethod(context: Context, random: SeededRandom, customerId: string | null): Promise<void> {
  if (random.chance(0.7)) await createBankPayoutMethod(context, { ...fakeBankMethod(random), customerId })
  else await createWalletPayoutMethod(context, { ...fakeWalletMethod(random), customerId })
}

async function createFakeWallet(context: Context, customerId: string | null, place: number): Promise<void> {
  // Seven of ten hold USDC; the first does, so that the merchant can always pay.
  const currency =
    (['USDC', 'USDT', 'NGN', 'USDC', 'USDC', 'USDT', 'USDC', 'ZAR', 'USDC', 'USDC'] as const)[place % 10] ?? 'USDC'
  const network = currency === 'USDC' ? 'erc20' : currency === 'USDT' ? 'trc20' : null
  await createWallet(context, { currency, network, description: `Wallet ${place + 1}`, customerId })
}
