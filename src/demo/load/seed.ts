import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { parseInput } from '../../core/input.ts'
import { createCustomer } from '../../modules/customers/create-customer.ts'
import { createMerchant } from '../../modules/merchants/create-merchant.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from '../../modules/payout-methods/create-payout-method.ts'
import { setRate } from '../../modules/pricing/rates.ts'
import { rateInForce } from '../../modules/pricing/repository.ts'
import { createWallet } from '../../modules/wallets/create-wallet.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext, createService } from '../../operations/context.ts'
import type { SeededRandom } from './fake-data.ts'
import { createRandom, fakeBankMethod, fakeCustomer, fakeWalletMethod } from './fake-data.ts'
import type { OnSeedProgress } from './seed-payouts.ts'
import { seedPayouts } from './seed-payouts.ts'

const rowCount = (max: number) => z.number().int().min(0).max(max)

export const SeedInput = z.object({
  merchants: z.number().int().min(1).max(10_000),
  customers: rowCount(1_000_000),
  methods: rowCount(1_000_000),
  wallets: rowCount(1_000_000),
  payouts: rowCount(100_000_000),
  seed: z.number().int().min(0).max(4_294_967_295),
})

export type SeededMerchant = { readonly id: string; readonly name: string; readonly apiKey: string }

const historyDays = 90

/**
 * The input's `customers`, `methods`, `wallets` and `payouts` are numbers per merchant.
 *
 * @throws DomainError INVALID_INPUT
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

  const seeded: SeededMerchant[] = []
  for (let number = 1; number <= sizes.merchants; number++) {
    const merchant = await createMerchant(past, { name: `Merchant ${sizes.seed}-${number}` })
    seeded.push(merchant)
    const context = createContext(past, merchant.id)
    const customerIds = await createMany('customers', sizes.customers, onProgress, () =>
      createFakeCustomer(context, random),
    )
    const pickOwner = () => (customerIds.length > 0 && random.chance(0.8) ? random.pick(customerIds) : null)
    await createMany('methods', sizes.methods, onProgress, () => createFakeMethod(context, random, pickOwner()))
    await createMany('wallets', sizes.wallets, onProgress, (index) =>
      createFakeWallet(context, index === 0 ? null : pickOwner(), index),
    )
    await seedPayouts(context, { random, payouts: sizes.payouts, onProgress })
  }
  return seeded
}

/** Each call of the clock advances the time, so that the rows are spread evenly over the period. */
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

async function createMany<Created>(
  noun: string,
  total: number,
  onProgress: OnSeedProgress,
  create: (index: number) => Promise<Created>,
): Promise<Created[]> {
  const maxConcurrent = 200
  const created: Created[] = []
  while (created.length < total) {
    const length = Math.min(maxConcurrent, total - created.length)
    const indexes = Array.from({ length }, (_, i) => created.length + i)
    created.push(...(await Promise.all(indexes.map(create))))
    onProgress(noun, created.length, total)
  }
  return created
}

async function createFakeCustomer(context: Context, random: SeededRandom): Promise<string> {
  return (await createCustomer(context, fakeCustomer(random))).result.id
}

async function createFakeMethod(context: Context, random: SeededRandom, customerId: string | null): Promise<void> {
  if (random.chance(0.7)) await createBankPayoutMethod(context, { ...fakeBankMethod(random), customerId })
  else await createWalletPayoutMethod(context, { ...fakeWalletMethod(random), customerId })
}

async function createFakeWallet(context: Context, customerId: string | null, index: number): Promise<void> {
  // The first wallet must be in USDC, so that the merchant can pay.
  const currency =
    (['USDC', 'USDT', 'NGN', 'USDC', 'USDC', 'USDT', 'USDC', 'ZAR', 'USDC', 'USDC'] as const)[index % 10] ?? 'USDC'
  const network = currency === 'USDC' ? 'erc20' : currency === 'USDT' ? 'trc20' : null
  await createWallet(context, { currency, network, description: `Wallet ${index + 1}`, customerId })
}
