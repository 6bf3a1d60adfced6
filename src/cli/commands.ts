import { readFile } from 'node:fs/promises'
import { demoApiKey, seedDemo } from '../../db/demo/demo.ts'
import { addAssetCode } from '../asset-codes/add-asset-code.ts'
import type { Audit } from '../audit/audit.ts'
import { audit } from '../audit/audit.ts'
import type { Context, Service } from '../context.ts'
import { createContext } from '../context.ts'
import { closeCustomer } from '../customers/close-customer.ts'
import { createCustomer } from '../customers/create-customer.ts'
import { merchantOfCustomer } from '../customers/repository.ts'
import type { Reader } from '../database/query.ts'
import { invalidInput, notFound, Refusal } from '../errors.ts'
import { setFee } from '../fees/set-fee.ts'
import { fill } from '../fill/fill.ts'
import { parseUuid } from '../ids.ts'
import { createMerchant } from '../merchants/create-merchant.ts'
import { findMerchant } from '../merchants/find-merchant.ts'
import { createKey, listKeys, revokeKey, rotateKey } from '../merchants/keys.ts'
import { allMerchants } from '../merchants/repository.ts'
import { setExtendedPublicKeys } from '../merchants/set-extended-public-keys.ts'
import { merchantOfPayout } from '../payouts/repository.ts'
import { settlePayout } from '../payouts/settle-payout.ts'
import { setRate } from '../rates/set-rate.ts'
import { depositToWallet } from '../wallets/deposit-to-wallet.ts'
import { importSolanaAddresses } from '../wallets/import-addresses.ts'
import { merchantOfWallet } from '../wallets/repository.ts'
import { progressOn } from './progress.ts'

type Options = Readonly<Record<string, string | undefined>>

/** One operator command; its result is what it prints. */
export type Command = {
  readonly summary: string
  /** What must be given, in order. */
  readonly words?: readonly string[]
  /** What may be given as `--name value`, each with the name of its value. */
  readonly options?: Readonly<Record<string, string>>
  readonly run: (service: Service, words: readonly string[], options: Options) => Promise<unknown>
  /** Whether it may be the first to use a database, in the sandbox or in any mode; any other refuses one that is not there. */
  readonly mayStart?: 'inSandbox' | 'inAnyMode'
  /** Whether a result means failure, as a scheduler should see it. */
  readonly hasFailed?: (result: unknown) => boolean
}

// The operations parse what they are given, so a command only renames it.
const word = (words: readonly string[], place: number) => words[place] ?? ''

export const commands: Readonly<Record<string, Command>> = {
  'merchant create': {
    mayStart: 'inSandbox',
    summary: 'Registers a merchant and shows its API key, once.',
    words: ['name'],
    run: (service, words) => createMerchant(service, { name: word(words, 0) }),
  },
  'merchant list': {
    summary: 'Lists the merchants.',
    run: ({ db }) => allMerchants(db, {}),
  },
  'merchant addresses': {
    summary: "Sets the public keys that deposit addresses derive from, and adds a file's Solana addresses to the pool.",
    words: ['merchant id'],
    options: { evm: 'xpub', tron: 'xpub', solana: 'file' },
    run: setAddresses,
  },
  'key create': {
    summary: 'Gives a merchant a second API key and shows it, once.',
    words: ['merchant id'],
    run: (service, words) => createKey(service, word(words, 0)),
  },
  'key list': {
    summary: "Lists a merchant's API keys with their last use.",
    words: ['merchant id'],
    run: (service, words) => listKeys(service, word(words, 0)),
  },
  'key revoke': {
    summary: 'Ends an API key at once.',
    words: ['key id'],
    run: (service, words) => revokeKey(service, word(words, 0)),
  },
  'key rotate': {
    summary: 'Gives a merchant a new API key beside its latest one and revokes any older.',
    words: ['merchant id'],
    run: (service, words) => rotateKey(service, word(words, 0)),
  },
  'customer create': {
    summary: 'Registers a customer.',
    words: ['merchant id'],
    options: {
      type: 'individual or business',
      email: 'e-mail address',
      phone: 'phone number',
      'first-name': 'name',
      'last-name': 'name',
      'business-name': 'name',
      address: 'line',
      city: 'city',
      state: 'state',
      country: 'country',
    },
    run: newCustomer,
  },
  'customer close': {
    summary: 'Closes a customer: nothing can be made for it any more.',
    words: ['customer id'],
    run: async (service, words) => {
      const customerId = word(words, 0)
      const context = await contextOf(service, merchantOfCustomer, customerId, 'Customer')
      const { id, status } = await closeCustomer(context, { customerId })
      return { id, status }
    },
  },
  deposit: {
    summary: 'Adds money that arrived to a wallet; a reference pays once.',
    words: ['wallet id', 'amount'],
    options: { reference: 'text' },
    run: async (service, words, { reference }) => {
      const walletId = word(words, 0)
      const context = await contextOf(service, merchantOfWallet, walletId, 'Wallet')
      const deposit = await depositToWallet(context, { walletId, amount: word(words, 1), reference: reference ?? '' })
      return { walletId: deposit.walletId, balance: deposit.balanceAfter }
    },
  },
  'payout settle': {
    summary: 'Records what the bank did with a payout; failed and returned put the money back.',
    words: ['payout id', 'completed, failed or returned'],
    options: { reason: 'text' },
    run: async (service, words, { reason }) => {
      const payoutId = word(words, 0)
      const context = await contextOf(service, merchantOfPayout, payoutId, 'Payout')
      const status = word(words, 1).toUpperCase() as 'COMPLETED'
      const payout = await settlePayout(context, { payoutId, status, cause: reason })
      return { id: payout.id, status: payout.status, updatedAt: payout.updatedAt }
    },
  },
  'rate set': {
    mayStart: 'inSandbox',
    summary: 'Sets what one unit of a stablecoin is worth, from now or from a time on.',
    words: ['from', 'to', 'rate'],
    options: { 'effective-at': 'time' },
    run: (service, words, options) =>
      setRate(service, {
        fromCode: word(words, 0),
        toCode: word(words, 1),
        rate: word(words, 2),
        effectiveAt: options['effective-at'],
      }),
  },
  'fee set': {
    mayStart: 'inSandbox',
    summary: 'Sets what payouts of an asset to a currency cost, from now or from a time on.',
    words: ['asset', 'currency'],
    options: { flat: 'amount', percent: 'number', 'effective-at': 'time' },
    run: (service, words, options) =>
      setFee(service, {
        assetCode: word(words, 0),
        recipientCurrency: word(words, 1),
        flat: options.flat ?? '0',
        percent: options.percent ?? '0',
        effectiveAt: options['effective-at'],
      }),
  },
  'asset add': {
    mayStart: 'inSandbox',
    summary: 'Supports one more asset; networks are separated by commas, places are those of its minor unit.',
    words: ['code', 'fiat or stablecoin'],
    options: { networks: 'list', places: 'number' },
    run: (service, words, { networks, places }) =>
      addAssetCode(service, {
        code: word(words, 0),
        assetType: word(words, 1).toUpperCase() as 'FIAT',
        networks: (networks?.split(',') ?? []) as [],
        minorUnitPlaces: wholeNumber('places', places ?? '2'),
      }),
  },
  demo: {
    mayStart: 'inSandbox',
    summary: 'Gives an empty database the demo merchant and shows its fixed key.',
    run: async (service) => {
      if (!(await seedDemo(sandboxOnly(service, 'demo'))))
        throw new Refusal('INVALID_INPUT', 'The database is not empty.')
      return { apiKey: demoApiKey }
    },
  },
  fill: {
    mayStart: 'inSandbox',
    summary: 'Makes realistic data for load: so much for each of so many merchants.',
    options: {
      merchants: 'number',
      customers: 'number',
      methods: 'number',
      wallets: 'number',
      payouts: 'number',
      seed: 'number',
    },
    run: (service, _, options) =>
      fill(
        sandboxOnly(service, 'fill'),
        {
          merchants: wholeNumber('merchants', options.merchants ?? '1'),
          customers: wholeNumber('customers', options.customers ?? '100'),
          methods: wholeNumber('methods', options.methods ?? '200'),
          wallets: wholeNumber('wallets', options.wallets ?? '100'),
          payouts: wholeNumber('payouts', options.payouts ?? '1000'),
          seed: wholeNumber('seed', options.seed ?? '1'),
        },
        progressOn(process.stderr),
      ),
  },
  audit: {
    summary: 'Recomputes the books; fails when anything contradicts.',
    run: (service) => {
      const onProgress = progressOn(process.stderr)
      return audit(service, (check, place, count) => onProgress(check, place, count))
    },
    hasFailed: (result) => !(result as Audit).balanced,
  },
  backup: {
    summary: 'Copies the database, as of one moment, to a new file; the server may go on meanwhile.',
    words: ['file'],
    run: async ({ db }, words) => {
      const file = word(words, 0)
      progressOn(process.stderr)(`copying to ${file}`, 0, 1)
      await db.backup(file)
      progressOn(process.stderr)(`copying to ${file}`, 1, 1)
      return { file }
    },
  },
  migrate: {
    mayStart: 'inAnyMode',
    summary: 'Brings the database to the latest form, as every start does, or makes a new one.',
    // Opening the database has done it.
    run: async () => ({ migrated: true }),
  },
}

/** A request in the name of the merchant that a thing belongs to, for an operator who names only the thing. */
async function contextOf(
  service: Service,
  find: (db: Reader, params: { id: string }) => Promise<{ id: string } | null>,
  id: string,
  noun: string,
): Promise<Context> {
  const uuid = parseUuid(id)
  const merchant = uuid && (await find(service.db, { id: uuid }))
  if (!merchant) throw notFound(noun)
  return createContext(service, merchant.id)
}

async function setAddresses(service: Service, words: readonly string[], { evm, tron, solana }: Options) {
  const merchantId = word(words, 0)
  const keys = { merchantId, evmExtendedPublicKey: evm, tronExtendedPublicKey: tron }
  const merchant = await setExtendedPublicKeys(service, keys)
  const lines = solana === undefined ? [] : (await readFile(solana, 'utf8')).split(/\s+/).filter(Boolean)
  const pool = await importSolanaAddresses(createContext(service, merchant.id), { addresses: lines })
  return { ...merchant, solana: pool }
}

async function newCustomer(service: Service, words: readonly string[], options: Options) {
  const merchant = await findMerchant(service.db, word(words, 0))
  // The contract wants an address of every customer; an operator who has none yet leaves it open.
  const { address = 'unknown', city = 'unknown', state = 'unknown', country = 'unknown' } = options
  const customer = await createCustomer(createContext(service, merchant.id), {
    customerType: options.type as 'individual',
    email: options.email ?? '',
    phone: options.phone ?? '',
    firstName: options['first-name'],
    lastName: options['last-name'],
    businessName: options['business-name'],
    addressLine1: address,
    city,
    state,
    country,
  })
  return { id: customer.id }
}

/** Invented data must never meet a live merchant. */
function sandboxOnly(service: Service, command: string): Service {
  if (service.mode === 'sandbox') return service
  throw new Refusal('INVALID_INPUT', `The command ${command} exists in MODE=sandbox only.`)
}

function wholeNumber(option: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw invalidInput([{ field: `--${option}`, code: 'INVALID_FORMAT', message: 'must be a whole number' }])
}
