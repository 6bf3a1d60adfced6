import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import type { App, Engine } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import { bearerOptions, newKey, tokenFor } from '../client-tokens/support/tokens.ts'

const walletsPath = '/api/payout/methods/wallets'
const absentId = '00000000-0000-7000-8000-000000000000'
const tronAddress = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

type Sent = { readonly key?: string | null; readonly headers?: Record<string, string> }
type Changes = {
  readonly customerId?: string
  readonly currency?: string | null
  readonly network?: string | null
  readonly walletAddress?: string | null
  readonly label?: string | null
}

/** What an API returned: the changed method, or the error code with the invalid fields in the operation's names. */
type Outcome = { readonly method: object } | { readonly code: string; readonly fields?: readonly string[] }

const mutation = `mutation($input: UpdateWalletPayoutMethodInput!) { updateWalletPayoutMethod(input: $input) {
  ... on UpdateWalletPayoutMethodPayload {
    payoutMethod { currency network walletAddress label customer { uuid } updatedAt }
  }
  ... on UserError { code } ... on InvalidInputError { fields { field } } } }`

const wireNames = { customerId: 'customer_id', walletAddress: 'wallet_address' } as const
const wireName = (field: string) => wireNames[field as keyof typeof wireNames] ?? field
const fieldName = (wire: string) => Object.entries(wireNames).find(([, name]) => name === wire)?.[0] ?? wire

/** The change of a crypto address, through each API. */
const apis = {
  REST: async (app: App, id: string, changes: Changes, sent: Sent = {}): Promise<Outcome> => {
    const body = Object.fromEntries(Object.entries(changes).map(([field, value]) => [wireName(field), value]))
    const { body: response } = await app.rest('PUT', `${walletsPath}/${id}`, { ...sent, body })
    if (response.error) {
      const { code, details } = response.error
      const fields = details?.fields?.map(({ field }: { field: string }) => fieldName(field))
      return { code, ...(fields && { fields }) }
    }
    const { currency, network, wallet_address: walletAddress, label, customer_id: customerId } = response.data
    return { method: { currency, network, walletAddress, label, customerId, updatedAt: response.data.updated_at } }
  },
  GraphQL: async (app: App, id: string, changes: Changes, { headers, ...sent }: Sent = {}): Promise<Outcome> => {
    const { 'idempotency-key': idempotencyKey, ...others } = headers ?? {}
    const network = changes.network?.toUpperCase()
    const input = {
      payoutMethodId: id,
      ...changes,
      ...(network && { network }),
      ...(idempotencyKey && { idempotencyKey }),
    }
    const { data, errors } = await app.graphql(mutation, { input }, { ...sent, headers: others })
    if (data === null) return { code: errors[0].extensions.code }
    const { payoutMethod, code, fields } = data.updateWalletPayoutMethod
    if (payoutMethod) {
      const { customer, network, ...method } = payoutMethod
      return { method: { ...method, network: network.toLowerCase(), customerId: customer?.uuid ?? null } }
    }
    return { code, ...(fields && { fields: fields.map(({ field }: { field: string }) => field) }) }
  },
}

const everyApi = everyEngine.flatMap((engine) =>
  (Object.keys(apis) as (keyof typeof apis)[]).map((api) => [api, engine] as const),
)

async function startWithMethods(engine: Engine) {
  const app = await startApp(engine)
  const customerId = await app.customer()
  const add = async (path: string, body: object) =>
    (await app.rest('POST', `/api/payout/methods/${path}`, { body })).body.data.id as string
  const ids = {
    merchants: await add('wallets', walletMethodBody),
    customers: await add('wallets', { ...walletMethodBody, label: 'Cold', customer_id: customerId }),
    bank: await add('banks', bankMethodBody),
  }
  /** The stored methods, their events and idempotency keys. */
  const stored = async () => {
    const { payout_methods, events, idempotency_keys } = await readStoredRows(app)
    return { payout_methods, events, idempotency_keys }
  }
  return { app, customerId, ids, stored }
}

const own = { currency: 'USDC', network: 'erc20', walletAddress: walletMethodBody.wallet_address, label: null }

describe.each(everyApi)('updateWalletPayoutMethod through %s on %s', (api, engine) => {
  const change = apis[api]

  test('changes only the sent fields, and clears the label if it is null or empty', async () => {
    const { app, ids } = await startWithMethods(engine)
    const { merchants } = ids
    const changed = async (changes: Changes) => ((await change(app, merchants, changes)) as { method: object }).method

    expect(await changed({ label: 'Desk' })).toMatchObject({ ...own, label: 'Desk', customerId: null })
    expect(await changed({ network: 'polygon' })).toMatchObject({ ...own, network: 'polygon', label: 'Desk' })
    expect(await changed({ currency: 'USDT', network: 'trc20', walletAddress: tronAddress, label: '' })).toMatchObject({
      ...{ currency: 'USDT', network: 'trc20', walletAddress: tronAddress, label: null },
    })
    const before = await changed({ label: 'Desk' })
    expect(await changed({})).toEqual(before)
    expect(await changed({ label: 'Desk', currency: 'USDT' })).toEqual(before)
    expect(await changed({ label: null })).toMatchObject({ label: null })
  })

  test('records one event for a change, and no event if nothing changes', async () => {
    const { app, ids } = await startWithMethods(engine)
    const types = async () =>
      (await app.rest('GET', '/api/events?limit=100')).body.data
        .map(({ event_type, type }: Record<string, string>) => event_type ?? type)
        .filter((each: string) => each === 'payout_method.updated')
    await change(app, ids.merchants, {})
    await change(app, ids.merchants, { currency: 'USDC' })
    expect(await types()).toEqual([])
    await change(app, ids.merchants, { label: 'Desk' })
    expect(await types()).toEqual(['payout_method.updated'])
  })

  test('requires the customerId of a customer’s address, and does not find addresses of other owners', async () => {
    const { app, customerId, ids, stored } = await startWithMethods(engine)
    const otherCustomer = await app.customer()
    const { apiKey: key } = await app.otherMerchant()
    const before = await stored()
    const notFound = { code: 'RESOURCE_NOT_FOUND' }
    const label = 'Eve'

    expect(await change(app, ids.customers, { label })).toEqual(notFound)
    expect(await change(app, ids.customers, { label, customerId: otherCustomer })).toEqual(notFound)
    expect(await change(app, ids.customers, { label, customerId: absentId })).toEqual(notFound)
    expect(await change(app, ids.merchants, { label, customerId })).toEqual(notFound)
    expect(await change(app, ids.merchants, { label }, { key })).toEqual(notFound)
    expect(await change(app, ids.customers, { label, customerId }, { key })).toEqual(notFound)
    expect(await change(app, ids.bank, { label })).toEqual(notFound)
    expect(await change(app, absentId, { label })).toEqual(notFound)
    expect(await change(app, 'mine', { label })).toEqual(notFound)
    expect(await stored()).toEqual(before)

    expect(await change(app, ids.customers, { label: 'Warm', customerId })).toMatchObject({
      method: { ...own, label: 'Warm', customerId },
    })
  })

  test('requires the scope `payout_methods`, and with a client token finds only addresses of the token’s customer', async () => {
    const { app, customerId, ids, stored } = await startWithMethods(engine)
    const otherCustomer = await app.customer()
    const reader = await newKey(app, { scopes: ['read', 'payouts'] })
    const tokens = {
      reading: await tokenFor(app, customerId, ['read']),
      own: await tokenFor(app, customerId),
      others: await tokenFor(app, otherCustomer),
    }
    const before = await stored()
    const label = 'Eve'

    expect(await change(app, ids.merchants, { label }, { key: reader.apiKey })).toEqual({ code: 'INSUFFICIENT_SCOPE' })
    expect(await change(app, ids.customers, { label, customerId }, bearerOptions(tokens.reading))).toEqual({
      code: 'INSUFFICIENT_SCOPE',
    })
    for (const id of [ids.customers, ids.merchants]) {
      for (const owner of [{}, { customerId }, { customerId: otherCustomer }]) {
        const outcome = await change(app, id, { label, ...owner }, bearerOptions(tokens.others))
        expect([id, owner, outcome]).toEqual([id, owner, { code: 'RESOURCE_NOT_FOUND' }])
      }
    }
    expect(await change(app, ids.merchants, { label }, bearerOptions(tokens.own))).toEqual({
      code: 'RESOURCE_NOT_FOUND',
    })
    expect(await stored()).toEqual(before)

    expect(await change(app, ids.customers, { label: 'Own', customerId }, bearerOptions(tokens.own))).toMatchObject({
      method: { label: 'Own', customerId },
    })
  })

  test('reports every invalid field and every mismatch of currency, network and address, and changes nothing', async () => {
    const { app, ids, stored } = await startWithMethods(engine)
    const before = await stored()
    const cases: readonly [changes: Changes, fields: readonly string[]][] = [
      [{ currency: 'DOGE' }, ['currency']],
      [{ currency: 'NGN' }, ['currency']],
      [{ currency: '', walletAddress: '' }, ['currency', 'walletAddress']],
      [{ walletAddress: 'two words' }, ['walletAddress']],
      [{ walletAddress: tronAddress }, ['walletAddress']],
      [{ network: 'trc20' }, ['network']],
      [{ currency: 'USDT', network: 'trc20' }, ['walletAddress']],
      [{ label: 'x'.repeat(101) }, ['label']],
      [{ label: 'a\u0007b' }, ['label']],
      [{ customerId: 'me' }, ['customerId']],
    ]
    for (const [changes, fields] of cases) {
      const outcome = await change(app, ids.merchants, changes)
      expect([changes, { ...outcome, fields: (outcome as { fields?: string[] }).fields?.toSorted() }]).toEqual([
        changes,
        { code: 'INVALID_INPUT', fields },
      ])
    }
    expect(await stored()).toEqual(before)
  })

  test('fails with CUSTOMER_CLOSED for a closed customer, but with RESOURCE_NOT_FOUND if the address is missing', async () => {
    const { app, customerId, ids, stored } = await startWithMethods(engine)
    await perform(closeCustomer, app.context(), { customerId })
    const before = await stored()

    expect(await change(app, ids.customers, { label: 'x', customerId })).toEqual({ code: 'CUSTOMER_CLOSED' })
    expect(await change(app, absentId, { label: 'x', customerId })).toEqual({ code: 'RESOURCE_NOT_FOUND' })
    expect(await stored()).toEqual(before)
  })
})

describe.each(everyEngine)('an idempotency key of updateWalletPayoutMethod on %s', (engine) => {
  const headers = { 'idempotency-key': 'label-1' }

  test('makes a repeated mutation return the current method without a change, and is rejected with another input', async () => {
    const { app, ids, stored } = await startWithMethods(engine)
    const change = apis.GraphQL
    expect(await change(app, ids.merchants, { label: 'First' }, { headers })).toMatchObject({
      method: { label: 'First' },
    })
    const second = await change(app, ids.merchants, { label: 'Second' })
    const before = await stored()

    expect(await change(app, ids.merchants, { label: 'First' }, { headers })).toEqual(second)
    for (const [id, changes] of [
      [ids.merchants, { label: 'Third' }],
      [ids.merchants, { label: 'First', network: 'polygon' }],
      [ids.customers, { label: 'First' }],
    ] as const) {
      expect(await change(app, id, changes, { headers })).toEqual({ code: 'IDEMPOTENCY_KEY_REUSED' })
    }
    expect(await stored()).toEqual(before)
  })

  test('has no effect on a PUT, which is idempotent without a key', async () => {
    const { app, ids } = await startWithMethods(engine)
    const change = apis.REST
    const first = await change(app, ids.merchants, { label: 'First' }, { headers })
    expect(await change(app, ids.merchants, { label: 'First' }, { headers })).toEqual(first)
    expect(await change(app, ids.merchants, { label: 'Second' }, { headers })).toMatchObject({
      method: { label: 'Second' },
    })
  })
})
