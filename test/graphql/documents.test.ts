import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { documentsPath, typedDocuments } from '../../codegen.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'
import type { App } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import type {
  CreatePayoutInput,
  CreatePayoutMutation,
  PayoutStatus,
  TypedDocumentString,
  WalletScreenQuery,
} from './documents/documents.ts'
import {
  CreatePayoutDocument,
  PayoutReportDocument,
  QuotePayoutDocument,
  RecentPayoutsDocument,
  WalletScreenDocument,
} from './documents/documents.ts'

const root = resolve(import.meta.dirname, '../..')

const payout = {
  assetCode: 'USDC',
  amount: '40',
  recipient: {
    bankAccount: {
      accountNumber: '0690000032',
      bankName: 'Access Bank',
      bankCode: '044',
      recipientName: 'Ada Obi',
      recipientCurrency: 'NGN',
      recipientCountry: 'NIGERIA',
    },
  },
} as const

const newPayout = (idempotencyKey: string): CreatePayoutInput => ({
  ...payout,
  paymentPurpose: 'GIFTS',
  idempotencyKey,
})

test('the generated typed documents match the schema and the .graphql files', async () => {
  const committed = readFileSync(resolve(root, documentsPath), 'utf8')
  const generated = await typedDocuments(root, sandboxSchema)
  expect(committed, `${documentsPath} is not up to date: run npm run codegen`).toBe(generated)
})

describe.each(everyEngine)('typed documents on %s', (engine) => {
  test('a typed document returns a wallet with its addresses', async () => {
    const app = await startApp(engine)
    const id = await app.wallet({ network: 'erc20', balance: '12.5' })

    const { wallet } = await send(app, WalletScreenDocument, { id })
    expectTypeOf(wallet).toEqualTypeOf<WalletScreenQuery['wallet']>()
    expectTypeOf(wallet).not.toBeAny()
    expect(wallet).toMatchObject({ balance: '12.50000000', currency: 'USDC', status: 'ACTIVE' })
    expect(wallet?.addresses?.map(({ network, address }) => [network, address.slice(0, 2)])).toEqual([['ERC20', '0x']])
    // @ts-expect-error a field that the document does not select has no type
    expect(wallet?.description).toBeUndefined()
  })

  test('typed documents quote and create a payout, and distinguish errors from results by __typename', async () => {
    const app = await startApp(engine)
    await app.fee('0.5')
    const customerId = await app.customer()
    await app.wallet({ balance: '100', customerId })

    const { payoutQuote } = await send(app, QuotePayoutDocument, { input: { ...payout, customerId } })
    if (payoutQuote?.__typename !== 'PayoutQuote') throw new Error(payoutQuote?.message)
    expectTypeOf(payoutQuote.total).toEqualTypeOf<string>()
    expect(payoutQuote).toMatchObject({ total: '40.50000000', balanceAfter: '59.50000000', warnings: [] })

    const { createPayout } = await send(app, CreatePayoutDocument, { input: { ...newPayout('one'), customerId } })
    if (createPayout?.__typename !== 'CreatePayoutPayload') throw new Error(createPayout?.message)
    expectTypeOf(createPayout.payout.status).toEqualTypeOf<PayoutStatus>()
    expect(createPayout.payout).toMatchObject({ fee: '0.50000000', balance: '59.50000000', status: 'PROCESSING' })

    const input = { ...newPayout('two'), customerId, amount: '60' }
    const { createPayout: refused } = await send(app, CreatePayoutDocument, { input })
    expectTypeOf(refused).toEqualTypeOf<CreatePayoutMutation['createPayout']>()
    if (refused?.__typename !== 'InsufficientFundsError') throw new Error(`it is a ${refused?.__typename}`)
    expect([refused.code, refused.available, refused.required]).toEqual([
      'INSUFFICIENT_FUNDS',
      '59.50000000',
      '60.50000000',
    ])
  })

  test('a typed document lists payouts with their customers and wallets, page by page', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const id = await app.wallet({ balance: '1000', customerId })
    for (let i = 0; i < 21; i++) {
      await send(app, CreatePayoutDocument, { input: { ...newPayout(`key ${i}`), customerId, amount: '1' } })
    }

    const { payouts: first } = await send(app, RecentPayoutsDocument, { filter: { owner: { customerId } } })
    expect(first?.edges.map(({ node }) => node.customer?.personalInfo.firstName)).toEqual(Array(20).fill('Ada'))
    const after = first?.pageInfo.endCursor ?? null
    const { payouts: second } = await send(app, RecentPayoutsDocument, { filter: { owner: { customerId } }, after })
    expect([first?.pageInfo.hasNextPage, second?.pageInfo.hasNextPage, second?.edges.length]).toEqual([true, false, 1])

    const { payouts: report } = await send(app, PayoutReportDocument, {})
    expectTypeOf(report?.totalCount).toEqualTypeOf<number | null | undefined>()
    expect(report?.totalCount).toBe(21)
    const [newest] = report?.nodes ?? []
    expect(newest).toMatchObject({ uuid: expect.any(String), amountFiat: '1500.00000000', paymentPurpose: 'GIFTS' })
    expect(newest?.wallet).toMatchObject({ currency: 'USDC', balance: '979.00000000' })
    expect(report?.nodes.filter((node) => node.customer?.email !== 'customer@example.com')).toEqual([])
    const { wallet } = await send(app, WalletScreenDocument, { id })
    expect(newest?.wallet?.id).toBe(wallet?.id)
  })

  test('a typed document accepts only the variables that it declares', async () => {
    const app = await startApp(engine)
    // @ts-expect-error a variable that is required
    await expect(send(app, WalletScreenDocument, {})).rejects.toThrow('$id')
    const owner = { customerId: await app.customer(), merchant: true }
    // @ts-expect-error both fields of an input that takes one
    await expect(send(app, RecentPayoutsDocument, { filter: { owner } })).rejects.toThrow('OwnerFilter')
  })
})

/** Returns the data of a typed document; throws if the response has errors. */
async function send<Result, Variables>(
  app: App,
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  const { data, errors } = await app.graphql(document.toString(), variables as Record<string, unknown>)
  if (errors.length > 0) throw new Error(errors[0].message)
  return data as Result
}
