import { describe, expect, test } from 'vitest'
import { noSecrets } from '../../src/core/secrets/secrets.ts'
import { sandboxSchema as schema } from '../../src/server/graphql/schema.ts'
import { everyEngine, everyExecutor, startApp } from '../support/app.ts'
import type { Ask } from './support/ask.ts'
import { createAsk, createServerVariant } from './support/ask.ts'
import { expectedFields } from './support/expected-fields.ts'
import { askFor, callsOf, itemOf } from './support/lists.ts'
import type { Mutation } from './support/mutations.ts'
import { mutations } from './support/mutations.ts'
import { everythingOf } from './support/selection.ts'
import { fieldsOf } from './support/walk.ts'
import type { World } from './support/world.ts'
import { startWorlds } from './support/world.ts'

/** Fields that no code sets yet, and members of an error that has no single field. */
const nullSoFar = [
  'Payout.address',
  'Payout.cryptoTransactionId',
  'Payout.network',
  'Payout.receiverWalletId',
  'BalanceLimitExceededError.field',
  'CustomerClosedError.field',
  'DepositAddressUnavailableError.field',
  'DepositReferenceReusedError.field',
  'IdempotencyKeyReusedError.field',
  'InsufficientFundsError.field',
  'PayoutStatusConflictError.field',
  'RateUnavailableError.field',
  'ResourceNotFoundError.field',
  'WalletNotFoundError.field',
  'NotConfiguredError.field',
  'WebhookDisabledError.field',
  'WebhookLimitReachedError.field',
]

test('the expected fields include every field of every reachable type', () => {
  expect(fieldsOf(schema)).toEqual(expectedFields)
})

describe.each(everyEngine)('fields on %s', (engine) => {
  test("every field has the same value with both executors, and no response contains another merchant's data", async () => {
    const { app, ours, canaries } = await startWorlds(engine)
    await app.fee('0.5')
    const live = await startApp(engine, { mode: 'live', rates: [] })
    const read = new Map<string, boolean>()
    /** Sends the request to both executors: a mutation is replayed by its key, so both responses are equal. */
    const bothWays = (of: typeof app, key = of.merchant.apiKey): Ask => {
      const [planned, reference] = everyExecutor.map((executor) =>
        createAsk(of, { key, canaries, server: createServerVariant(of, { executor }) }),
      ) as [Ask, Ask]
      return async (query, variables) => {
        const response = await planned(query, variables)
        const { text } = await reference(query, variables)
        // Every client token is different.
        const same = (each: string) => each.replace(/"token":"[^"]+"/, '"token":""')
        expect(same(text), query).toBe(same(response.text))
        const root = query.startsWith('mutation') ? 'Mutation' : query.startsWith('sub') ? 'Subscription' : 'Query'
        if (response.errors.length === 0) noteFields({ __typename: root, ...response.data }, read)
        expect(response.errors, query).toEqual([])
        return response
      }
    }
    const ask = bothWays(app)

    for (const { query, variables } of lookups(ours)) await ask(query, variables)
    const parents = { Customer: [ours.person, ours.company], Wallet: [ours.wallets.merchant, ours.wallets.person] }
    for (const call of callsOf(parents)) {
      await askFor(ask, call, { first: 8 }, everythingOf(schema, `${itemOf(call.list)}Connection`, 2))
    }
    const tokenPayload = await mutate(ask, 'createClientToken', { customerId: ours.person, scopes: ['READ'] })
    const asPerson = bothWays(app, tokenPayload.data.createClientToken.token)
    await asPerson(`query { merchant ${everythingOf(schema, 'Merchant', 1)} }`)
    for (const [name, ...inputs] of mutations(ours)) for (const input of inputs) await mutate(ask, name, input)
    const keyless = await startApp(engine, { secrets: noSecrets })
    await mutate(bothWays(keyless), 'createWebhookEndpoint', { url: 'http://127.0.0.1:9/' })
    for (const [name, ...inputs] of mutationsOnAnEmptyMerchant) {
      for (const input of inputs) await mutate(bothWays(live), name, input)
    }

    const expected = Object.entries(expectedFields).flatMap(([type, fields]) =>
      fields.split(' ').map((field) => `${type}.${field.split(':')[0]}`),
    )
    expect(expected.filter((field) => !read.has(field))).toEqual([])
    expect([...read].flatMap(([field, isSet]) => (isSet ? [] : [field])).sort()).toEqual([...nullSoFar].sort())
    await app.expectBooksToBalance()
  })
})

/** Records the fields of a response, and whether each had a value. */
function noteFields(value: unknown, read: Map<string, boolean>): void {
  if (Array.isArray(value)) for (const item of value) noteFields(item, read)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const { __typename: type, ...fields } = value as Record<string, unknown>
  for (const [name, inner] of Object.entries(fields)) {
    const isSet = Array.isArray(inner) ? inner.length > 0 : inner !== null
    read.set(`${type}.${name}`, read.get(`${type}.${name}`) || isSet)
    // The content of a scalar has no fields of the schema.
    if (`${type}.${name}` !== 'Event.data') noteFields(inner, read)
  }
}

function mutate(ask: Ask, name: string, input: object) {
  const type = name.charAt(0).toUpperCase() + name.slice(1)
  const idempotencyKey = JSON.stringify(input)
  const [isQuery, result] = name === 'payoutQuote' ? [true, 'PayoutQuoteResult'] : [false, `${type}Result`]
  return ask(
    `${isQuery ? 'query' : 'mutation'}($input: ${type}Input!) { ${name}(input: $input) ${everythingOf(schema, result, 2)} }`,
    { input: { ...(!isQuery && { idempotencyKey }), ...input } },
  )
}

function lookups({ person, company, methods, wallets, payouts, webhooks, entryIds, eventIds }: World) {
  const of = (field: string, type: string, id: string | undefined, deep = 1) => ({
    query: `query($id: ID!) { ${field}(id: $id) ${everythingOf(schema, type, deep)} }`,
    variables: { id },
  })
  const entryId = btoa(`LedgerEntry:${entryIds.at(-1)}`)
  return [
    { query: `query { merchant ${everythingOf(schema, 'Merchant')} }`, variables: {} },
    ...[person, company].map((id) => of('customer', 'Customer', id)),
    ...Object.values(methods).map((id) => of('payoutMethod', 'PayoutMethod', id)),
    ...Object.values(wallets).map((id) => of('wallet', 'Wallet', id)),
    ...Object.values(wallets).map((id) => ({
      query: `query($id: ID!) { statement(walletId: $id, from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z") ${everythingOf(schema, 'Statement')} }`,
      variables: { id },
    })),
    ...Object.values(payouts).map((id) => of('payout', 'Payout', id)),
    of('webhookEndpoint', 'WebhookEndpoint', webhooks.used, 3),
    ...[entryId, payouts.person].map((id) => of('node', 'Node', id)),
    {
      query: `query($ids: [ID!]!) { nodes(ids: $ids) ${everythingOf(schema, 'Node')} }`,
      variables: { ids: [entryId, person, wallets.person] },
    },
    ...['NGN', 'USDC'].map((currency) => ({
      query: `query($currency: String!) { payoutMethodRequirements(currency: $currency) ${everythingOf(schema, 'PayoutMethodRequirements')} }`,
      variables: { currency },
    })),
    ...[...Object.values(payouts).slice(0, 1), person, wallets.person, ...Object.values(methods), entryId].map(
      (term) => ({
        query: `query($term: String!) { search(term: $term, first: 4) ${everythingOf(schema, 'SearchPage', 2)} }`,
        variables: { term },
      }),
    ),
    { query: `query { events(first: 40) ${everythingOf(schema, 'EventPage', 2)} }`, variables: {} },
    // More than a page, so that a next page exists.
    { query: `query { attention(first: 1) ${everythingOf(schema, 'AttentionPage', 2)} }`, variables: {} },
    {
      query: `subscription($after: String) { eventPublished(after: $after) ${everythingOf(schema, 'Event')} }`,
      variables: { after: String(eventIds.length - 1) },
    },
    {
      query: `subscription($id: ID!) { payoutChanged(id: $id) ${everythingOf(schema, 'Payout')} }`,
      variables: { id: payouts.returned },
    },
    {
      query: `subscription($ids: [ID!]) { payoutsChanged(ids: $ids) ${everythingOf(schema, 'Payout')} }`,
      variables: { ids: [payouts.returned] },
    },
  ]
}

/** Errors that only a live merchant without API keys and rates gets. */
const mutationsOnAnEmptyMerchant: Mutation[] = [
  ['createWallet', { currency: 'USDC', description: 'New', network: 'ERC20' }],
  ['payoutQuote', { assetCode: 'USDC', amount: '1', recipient: { currency: 'NGN' } }],
]
