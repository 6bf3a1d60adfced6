import type { MaybePromise } from '../../src/core/maybe-promise.ts'
import type { Slice } from '../../src/lists/slice.ts'
import { addAssetCode } from '../../src/modules/asset-codes/add-asset-code.ts'
import { browseAssetCodes, findAssetCodes, listAssetCodes } from '../../src/modules/asset-codes/list-asset-codes.ts'
import { closeCustomer } from '../../src/modules/customers/close-customer.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { customers } from '../../src/modules/customers/list.ts'
import type { Entry } from '../../src/modules/ledger/entry.ts'
import { entries, entryKey, findEntries } from '../../src/modules/ledger/list.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from '../../src/modules/payout-methods/create-payout-method.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import type { PayoutMethodType } from '../../src/modules/payout-methods/payout-method.ts'
import { payoutMethodTypes } from '../../src/modules/payout-methods/payout-method.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { changeWalletStatus } from '../../src/modules/wallets/change-wallet-status.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import type { Context, Service } from '../../src/operations/context.ts'
import { createContext } from '../../src/operations/context.ts'
import { sampleCustomer } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'

/** An item as tests compare it: its id, and the columns of the list's filters. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string; readonly createdAt: string }

/** A merchant with a customer, and with funded wallets of its own and of the customer. */
export type World = Awaited<ReturnType<typeof buildWorld>>

type Filter = { readonly input: object; readonly matches: (row: Row) => boolean }

/** A slice of any list. */
export type Browsed = Omit<Slice<never>, 'items'> & { readonly items: readonly unknown[] }

/**
 * A list under test: how to add its row number `i`, and its filters, each with the equivalent predicate on an
 * array.
 */
export type List = {
  readonly name: string
  readonly hasTimes: boolean
  readonly isShared: boolean
  readonly browse: (context: Context, world: World, input: object) => MaybePromise<Browsed>
  readonly find: (context: Context, ids: readonly string[]) => MaybePromise<readonly unknown[]>
  readonly rowOf: (item: never) => Row
  readonly add: (context: Context, world: World, i: number) => Promise<Row>
  readonly filters: (world: World) => readonly Filter[]
}

export async function buildWorld(service: Service, merchantId: string) {
  const context = createContext(service, merchantId)
  const { id: customerId } = await perform(createCustomer, context, sampleCustomer)
  const walletIds: Record<string, string> = {}
  for (const currency of ['USDC', 'USDT']) {
    for (const owner of [null, customerId]) {
      const wallet = { currency, description: 'Test', network: 'solana', customerId: owner }
      const { id: walletId } = await perform(createWallet, context, wallet)
      await depositToWallet(context, { walletId, amount: '1000', reference: `opening ${walletId}` })
      walletIds[`${currency} ${owner === null ? 'merchant' : 'customer'}`] = walletId
    }
  }
  const statementOf = await perform(createWallet, context, {
    currency: 'USDC',
    description: 'Statement',
    network: 'solana',
  })
  return { merchantId, customerId, walletIds, statementId: statementOf.id }
}

const absentId = '00000000-0000-7000-8000-000000000000'
const pick = <Value>(values: readonly Value[], i: number) => values[i % values.length] as Value
const none: Filter = { input: {}, matches: () => true }
const unknown = (input: object): Filter => ({ input, matches: () => false })
const where = (input: Record<string, string>): Filter => ({
  input,
  matches: (row) => Object.entries(input).every(([name, value]) => row[name] === value),
})

/** Filters by owner, each combined with some others. */
function byOwner({ customerId }: World, others: readonly Filter[]): Filter[] {
  const owners: Filter[] = [
    { input: { owner: 'any' }, matches: () => true },
    { input: { owner: 'merchant' }, matches: (row) => row.customerId === null },
    { input: { owner: { customerId } }, matches: (row) => row.customerId === customerId },
    unknown({ owner: { customerId: absentId } }),
  ]
  return [none, ...others].flatMap((other) =>
    [none, ...owners].map((owner) => ({
      input: { ...other.input, ...owner.input },
      matches: (row: Row) => other.matches(row) && owner.matches(row),
    })),
  )
}

export const customerList: List = {
  name: 'customers',
  hasTimes: true,
  isShared: false,
  browse: (context, _, input) => customers.slice(context, input),
  find: customers.find,
  rowOf: (customer: Row) => customer,
  add: async (context, _, i) => {
    const type = pick(['individual', 'business', 'business'] as const, i)
    const customer = await perform(createCustomer, context, {
      ...sampleCustomer,
      customerType: type,
      businessName: 'Example Ltd',
    })
    return i % 4 === 0 ? perform(closeCustomer, context, { customerId: customer.id }) : customer
  },
  filters: () => [
    none,
    where({ status: 'active' }),
    where({ status: 'closed' }),
    where({ customerType: 'business' }),
    where({ status: 'closed', customerType: 'individual' }),
  ],
}

export const walletList: List = {
  name: 'wallets',
  hasTimes: true,
  isShared: false,
  browse: (context, _, input) => wallets.slice(context, input),
  find: wallets.find,
  rowOf: (wallet: Row) => wallet,
  add: async (context, { customerId }, i) => {
    const currency = pick(['USDC', 'NGN', 'USDT', 'USDC', 'ZAR'], i)
    const network = currency.startsWith('USD') ? 'solana' : null
    const wallet = await perform(createWallet, context, {
      currency,
      network,
      description: 'Test',
      customerId: pick([null, customerId], i),
    })
    if (i % 3 !== 0) return wallet
    const changed = await changeWalletStatus(context, { walletId: wallet.id, status: 'suspended' })
    return { ...wallet, ...changed }
  },
  filters: (world) =>
    byOwner(world, [
      where({ status: 'active' }),
      where({ status: 'suspended' }),
      where({ status: 'suspended', assetType: 'STABLECOIN', currency: 'USDC' }),
      where({ assetType: 'FIAT' }),
      where({ currency: 'USDC' }),
      where({ currency: 'NGN', assetType: 'FIAT' }),
      unknown({ currency: 'NGN', assetType: 'STABLECOIN' }),
      unknown({ currency: 'usdc' }),
    ]),
}

type MethodMaker = {
  readonly currencies: readonly string[]
  readonly add: (context: Context, input: { currency: string; customerId: string | null }) => Promise<Row>
}

const methodMakers: Record<PayoutMethodType, MethodMaker> = {
  BANK: {
    currencies: ['NGN', 'ZAR', 'NGN'],
    add: (context, input) => {
      const bank = { accountName: 'Ada Obi', accountNumber: '0690000032', bankName: 'Access Bank', bankCode: '044' }
      return perform(createBankPayoutMethod, context, { type: 'BANK', ...bank, ...input })
    },
  },
  WALLET: {
    currencies: ['USDC', 'USDT'],
    add: (context, input) => {
      const walletAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
      return perform(createWalletPayoutMethod, context, { type: 'WALLET', walletAddress, network: 'erc20', ...input })
    },
  },
}

export const payoutMethodList: List = {
  name: 'payout methods',
  hasTimes: true,
  isShared: false,
  browse: (context, _, input) => payoutMethods.slice(context, input),
  find: payoutMethods.find,
  rowOf: (method: Row) => method,
  add: async (context, world, i) => {
    const customerId = pick([null, world.customerId], i)
    const [currency, add] = pick(
      Object.values(methodMakers).flatMap(({ currencies, add }) => currencies.map((each) => [each, add] as const)),
      i,
    )
    return add(context, { currency, customerId })
  },
  filters: (world) =>
    byOwner(world, [
      where({ type: 'BANK' }),
      where({ currency: 'NGN' }),
      where({ currency: 'USDT', type: 'WALLET' }),
      ...payoutMethodTypes.map((type) => where({ currency: 'NGN', type })),
      unknown({ currency: 'USDT', type: 'BANK' }),
    ]),
}

export const payoutList: List = {
  name: 'payouts',
  hasTimes: true,
  isShared: false,
  browse: (context, _, input) => payouts.slice(context, input),
  find: payouts.find,
  rowOf: (payout: Row) => payout,
  add: async (context, world, i) => {
    const payout = await perform(createPayout, context, {
      customerId: pick([null, world.customerId, world.customerId], i),
      assetCode: pick(['USDC', 'USDT'] as const, i),
      amount: '1',
      accountNumber: '0690000032',
      bankName: 'Access Bank',
      bankCode: '044',
      recipientName: 'Ada Obi',
      ...pick(
        [
          { recipientCurrency: 'NGN', recipientCountry: 'Nigeria' },
          { recipientCurrency: 'ZAR', recipientCountry: 'South Africa' },
        ] as const,
        i >> 1,
      ),
    })
    const status = pick(['PROCESSING', 'COMPLETED', 'FAILED', 'COMPLETED'] as const, i)
    return status === 'PROCESSING' ? payout : settlePayout(context, { payoutId: payout.id, status })
  },
  filters: (world) =>
    byOwner(world, [
      where({ status: 'COMPLETED' }),
      where({ status: 'RETURNED' }),
      where({ assetCode: 'USDT' }),
      where({ recipientCurrency: 'ZAR' }),
      where({ recipientCurrency: 'NGN', assetCode: 'USDC', status: 'FAILED' }),
      where({ walletId: world.walletIds['USDC customer'] as string }),
      where({ walletId: world.walletIds['USDT merchant'] as string, status: 'COMPLETED', recipientCurrency: 'NGN' }),
      unknown({ walletId: absentId }),
      unknown({ assetCode: 'BTC' }),
    ]),
}

export const entryList: List = {
  name: 'entries',
  hasTimes: true,
  isShared: false,
  browse: (context, world, input) => entries.slice(context, { walletId: world.statementId, ...input }),
  find: findEntries,
  rowOf: (entry: Entry) => ({ ...entry, id: entryKey(entry) }),
  add: async (context, { statementId }, i) => {
    const key = i % 3
    if (key === 0) await depositToWallet(context, { walletId: statementId, amount: '10', reference: `line ${i}` })
    else await payFromStatement(context, statementId, key === 2)
    const { items } = await entries.slice(context, { walletId: statementId, first: 1 })
    return entryList.rowOf(items[0] as never)
  },
  filters: () => [
    none,
    where({ direction: 'debit' }),
    where({ direction: 'credit' }),
    where({ kind: 'deposit' }),
    where({ kind: 'payout' }),
    where({ kind: 'payout_failed', direction: 'credit' }),
    unknown({ kind: 'payout', direction: 'credit' }),
    unknown({ kind: 'payout_completed' }),
  ],
}

/** Pays out from the wallet of the statement, or fails the previous payout; either is one entry. */
async function payFromStatement(context: Context, walletId: string, isFailure: boolean): Promise<void> {
  if (isFailure) {
    const { items } = await payouts.slice(context, { walletId, status: 'PROCESSING', first: 1 })
    await settlePayout(context, { payoutId: items[0]?.id ?? '', status: 'FAILED' })
    return
  }
  await perform(createPayout, context, {
    walletId,
    assetCode: 'USDC',
    amount: '1',
    accountNumber: '0690000032',
    bankName: 'Access Bank',
    bankCode: '044',
    recipientName: 'Ada Obi',
    recipientCurrency: 'NGN',
    recipientCountry: 'Nigeria',
  })
}

export const assetCodeList: List = {
  name: 'asset codes',
  hasTimes: false,
  isShared: true,
  browse: (context, _, input) => browseAssetCodes(context, input),
  find: findAssetCodes,
  rowOf: (asset: Row) => asset,
  add: async (context, _, i) => {
    const assetType = pick(['FIAT', 'STABLECOIN'] as const, i)
    const code = `T${String(i).padStart(4, '0')}`
    return addAssetCode(context, {
      assetType,
      code,
      minorUnitPlaces: 2,
      networks: assetType === 'FIAT' ? [] : ['erc20'],
    })
  },
  filters: () => [none, where({ assetType: 'FIAT' }), where({ assetType: 'STABLECOIN' })],
}

/** The rows that exist before the first one is added, oldest first. */
export async function rowsBefore(list: List, context: Context, world: World): Promise<Row[]> {
  if (list.isShared) return (await listAssetCodes(context, {})).toReversed()
  const { items } = await list.browse(context, world, { last: 100 })
  return items.map((item) => list.rowOf(item as never)).toReversed()
}

export const everyList: readonly List[] = [
  customerList,
  walletList,
  payoutMethodList,
  payoutList,
  entryList,
  assetCodeList,
]
