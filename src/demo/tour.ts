import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toGlobalId } from '../graphql/schema/global-ids.ts'
import { customers as customerList } from '../modules/customers/list.ts'
import { apiKeyById } from '../modules/merchants/repository.ts'
import { payoutMethods } from '../modules/payout-methods/list.ts'
import { wallets } from '../modules/wallets/list.ts'
import type { Service } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { GraphiqlTab } from '../server/pages/graphiql.ts'
import { demoApiKey, demoKey } from './demo.ts'

/**
 * Returns GraphiQL's tabs for the demo merchant, one per file in `tour/`. Later tabs find the payout of tab 6 by its
 * idempotency key, because the payout's id is unknown when the page is rendered.
 *
 * The tour uses the ids of the oldest objects, so that inputs and idempotency keys stay valid after restarts.
 */
export async function tourTabs(service: Service): Promise<readonly GraphiqlTab[]> {
  const ids = await findDemoIds(service)
  const headers = formatVariables({ 'x-api-key': demoApiKey })
  const variables = [
    null,
    null,
    { input: quoteInput(ids), currency: 'NGN' },
    { input: walletInput(ids) },
    { input: depositInput(ids) },
    { input: payoutInput(ids) },
    { payoutKey },
    { input: settlementInput },
    { walletId: ids.adasWallet, lines: 10 },
    { after: null, types: ['PAYOUT_FAILED', 'PAYOUT_RETURNED'] },
    { input: outcomeInput },
  ]
  return readDocuments().map((query, index) => {
    const values = variables[index]
    return { query, ...(values && { variables: formatVariables(values) }), headers }
  })
}

function readDocuments(): string[] {
  const folder = join(import.meta.dirname, 'tour')
  const files = readdirSync(folder).toSorted()
  return files.map((file) => readFileSync(join(folder, file), 'utf8'))
}

type DemoIds = Awaited<ReturnType<typeof findDemoIds>>

async function findDemoIds(service: Service) {
  const merchantId = (await apiKeyById(service.db, { id: demoKey.id }))?.merchantId ?? ''
  const context = createContext(service, merchantId)
  const { items } = await customerList.slice(context, { last: 100 })
  const customerOf = (email: string) => items.find((customer) => customer.email === email)?.id
  const [ada, kola] = [customerOf('ada.obi@example.com'), customerOf('finance@kolafoods.example')]
  const bankOf = async (customerId: string | undefined) =>
    toGlobalId(
      'BankPayoutMethod',
      firstIdOf(await payoutMethods.slice(context, { ...oldestOwnedBy(customerId), type: 'BANK' })),
    )
  return {
    ada: toGlobalId('Customer', ada ?? ''),
    adasWallet: toGlobalId(
      'Wallet',
      firstIdOf(await wallets.slice(context, { ...oldestOwnedBy(ada), currency: 'USDC' })),
    ),
    adasBank: await bankOf(ada),
    mistypedBank: await bankOf(kola),
  }
}

function oldestOwnedBy(customerId: string | undefined) {
  return { owner: customerId === undefined ? ('any' as const) : { customerId }, last: 1 }
}

function firstIdOf({ items: [item] }: { readonly items: readonly { readonly id: string }[] }): string {
  return item?.id ?? ''
}

function formatVariables(variables: object): string {
  return JSON.stringify(variables, null, 2)
}

function quoteInput({ mistypedBank }: DemoIds) {
  return { assetCode: 'USDC', amount: '100', recipient: { payoutMethodId: mistypedBank } }
}

function walletInput({ ada }: DemoIds) {
  const description = 'Holiday savings'
  return { customerId: ada, currency: 'USDC', network: 'POLYGON', description, idempotencyKey: 'tour: open a wallet' }
}

function depositInput({ adasWallet }: DemoIds) {
  return { walletId: adasWallet, amount: '250', reference: 'tour: first deposit' }
}

const payoutKey = 'tour: first payout'

function payoutInput({ ada, adasBank }: DemoIds) {
  return {
    customerId: ada,
    assetCode: 'USDC',
    amount: '25.50',
    recipient: { payoutMethodId: adasBank },
    paymentPurpose: 'PERSONAL_TRANSFERS',
    narration: 'From savings',
    idempotencyKey: payoutKey,
  }
}

const settlementInput = {
  payoutIdempotencyKey: payoutKey,
  status: 'COMPLETED',
  cause: 'Paid by the bank',
  idempotencyKey: 'tour: the bank pays',
}

const outcomeInput = {
  assetCode: 'USDT',
  amount: '5',
  recipient: {
    bankAccount: {
      accountName: 'Ada Obi',
      accountNumber: '9999999920',
      bankName: 'Access Bank',
      bankCode: '044',
      recipientCurrency: 'NGN',
      recipientCountry: 'NIGERIA',
    },
  },
  paymentPurpose: 'GIFTS',
  idempotencyKey: 'tour: returned a day later',
}
