import { listEvents } from '../../../../src/modules/events/list-events.ts'
import type { Makers } from '../../../graphql/support/makers.ts'
import { makersFor } from '../../../graphql/support/makers.ts'
import type { World } from '../../../graphql/support/world.ts'
import {
  foreignWords,
  ownWords,
  populate,
  signsOf,
  storedOf,
  transactionIdsIn,
} from '../../../graphql/support/world.ts'
import type { App, Engine } from '../../../support/app.ts'
import { startApp } from '../../../support/app.ts'
import { tokenFor } from './tokens.ts'

export type Customers = Awaited<ReturnType<typeof startCustomers>>

/**
 * Starts an app with a merchant that has every kind of object, itself and by other customers, and with one customer
 * that has every kind of object in its own words. `token` is the customer's client token with all its scopes;
 * `canaries` are the values that identify foreign data. In `ours`, each object stands for the customer's counterpart,
 * except the webhook endpoints, which only the merchant has.
 */
export async function startCustomers(engine: Engine) {
  let nowMs = Date.parse('2026-03-07T07:07:07.707Z')
  const app = await startApp(engine, { clock: () => nowMs })
  const merchantId = app.merchant.id
  const others = await populate(app, merchantId, foreignWords)
  const before = await storedOf(app, merchantId)
  nowMs = Date.parse('2026-03-09T12:00:00.000Z')
  const ours = await populateCustomer(app, others)
  const canaries = canariesIn(before, await storedOf(app, merchantId))
  nowMs = Date.parse('2026-03-11T12:00:00.000Z')
  return { app, others, ours, canaries, token: await tokenFor(app, ours.person) }
}

type Rows = Awaited<ReturnType<typeof storedOf>>

/** The values in rows that existed before the customer and in none of the customer's own rows. */
function canariesIn(before: Rows, after: Rows): string[] {
  const { merchants: [merchant] = [], api_keys: _, ...others } = before
  const known = new Set(Object.values(before).flatMap((rows) => rows.map((row) => JSON.stringify(row))))
  const added = Object.entries(after).map(([table, rows]) => [
    table,
    rows.filter((row) => !known.has(JSON.stringify(row))),
  ])
  const own = signsOf({ ...Object.fromEntries(added), merchants: merchant ? [merchant] : [] })
  // A plain word is a constant of the service, such as a delivery status.
  return [...signsOf(others)].filter((sign) => !own.has(sign) && !/^[a-z_.]+$/.test(sign))
}

async function populateCustomer(app: App, others: World): Promise<World> {
  const { merchantId } = others
  const makers = makersFor(app, merchantId, ownWords)
  const { after } = await listEvents(others.context(), { limit: 100 })
  const person = await makers.newCustomer()
  const things = await thingsFor(makers, person)
  const walletIds = new Set<unknown>(Object.values(things.wallets))
  const { entries = [], wallet_addresses = [], ...stored } = await storedOf(app, merchantId)
  const { items } = await listEvents(others.context(), { after, limit: 100 })
  return {
    merchantId,
    words: ownWords,
    person,
    company: person,
    closed: person,
    ...things,
    webhooks: others.webhooks,
    entryIds: entries
      .filter(({ account_id }) => walletIds.has(account_id))
      .map(({ transfer_id, line }) => `${transfer_id}:${line}`),
    eventIds: items.map(({ id }) => id),
    addressIds: wallet_addresses.filter(({ wallet_id }) => walletIds.has(wallet_id)).map(({ id }) => String(id)),
    ...transactionIdsIn(stored, walletIds),
    ...makers,
    newCarriedPayout: () => makers.newCarriedPayout(person),
    newContradictedPayout: () => makers.newContradictedPayout(person),
  }
}

async function thingsFor(makers: Makers, person: string): Promise<Pick<World, 'methods' | 'wallets' | 'payouts'>> {
  const { newBankMethod, newCryptoMethod, newWallet, newPayout, deleted, settle } = makers
  const [bank, crypto] = [await newBankMethod(person), await newCryptoMethod(person)]
  const spare = await newBankMethod(person)
  const methods = {
    merchantBank: bank,
    merchantCrypto: crypto,
    personBank: bank,
    personCrypto: crypto,
    companyBank: bank,
    spareBank: spare,
    deletedBank: await deleted(await newBankMethod(person), person),
    deletedCrypto: await deleted(await newCryptoMethod(person), person),
    deletedOfPerson: await deleted(await newBankMethod(person), person),
  }
  const [stablecoin, fiat] = [await newWallet(person), await newWallet(person, 'NGN')]
  const wallets = { merchant: stablecoin, merchantFiat: fiat, person: stablecoin, company: stablecoin, closed: fiat }
  const payouts = {
    merchant: await newPayout(person),
    person: await newPayout(person, bank),
    company: await newPayout(person),
    completed: await settle(await newPayout(person), 'COMPLETED'),
    failed: await settle(await newPayout(person), 'FAILED'),
    returned: await settle(await newPayout(person), 'COMPLETED', 'RETURNED'),
    carried: await makers.newCarriedPayout(person),
    contradicted: await makers.newContradictedPayout(person),
    alsoContradicted: await makers.newContradictedPayout(person),
  }
  return { methods, wallets, payouts }
}
