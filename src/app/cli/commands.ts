import { readFile } from 'node:fs/promises'
import { demoApiKey, hasDemo, seedDemo } from '../../../db/demo/demo.ts'
import { addAssetCode } from '../../asset-codes/add-asset-code.ts'
import type { Service } from '../../context.ts'
import { createContext } from '../../context.ts'
import { closeCustomer } from '../../customers/close-customer.ts'
import { createCustomer } from '../../customers/create-customer.ts'
import { Refusal } from '../../errors.ts'
import { fill } from '../../fill/fill.ts'
import { createMerchant } from '../../merchants/create-merchant.ts'
import { findMerchant } from '../../merchants/find-merchant.ts'
import { allMerchants } from '../../merchants/repository.ts'
import { setExtendedPublicKeys } from '../../merchants/set-extended-public-keys.ts'
import { contextOf } from '../../operators/owner-of.ts'
import { payoutAssetCodes, recipientCurrencies } from '../../payouts/payout.ts'
import { settlePayout } from '../../payouts/settle-payout.ts'
import { importSolanaAddresses } from '../../wallets/import-addresses.ts'
import { attentionCommands } from './attention.ts'
import { auditCommand } from './audit-command.ts'
import type { Options } from './command.ts'
import { sandboxOnly, takingReasons, toFirstWord, toWhatIsMade, wholeNumber, word } from './command.ts'
import { consoleCommand } from './console.ts'
import { depositCommands } from './deposits.ts'
import { doctorCommand } from './doctor-command.ts'
import { eventCommands } from './events.ts'
import { exportCommands } from './exports.ts'
import { keyCommands } from './keys-and-tokens.ts'
import { listCommands } from './lists.ts'
import { priceCommands } from './prices.ts'
import { progressOn } from './progress.ts'
import { railCheckCommand } from './rail-check.ts'
import { railCommands } from './rails.ts'
import { reconciliationCommands } from './reconciliation.ts'
import { restoreCommand } from './restore.ts'
import { documentCommands } from './trusted-documents.ts'
import { webhookCommands } from './webhooks.ts'

const whatIsPaid = `Payouts are made from ${payoutAssetCodes.join(' and ')} and go to ${recipientCurrencies.join(' and ')} only.`

/** How much `fill` makes where nothing else is said. */
const standardSizes = { merchants: 1, customers: 100, methods: 200, wallets: 100, payouts: 1000, seed: 1 }

/** Every operator command by its name, in the order in which they are explained. */
export const commands = takingReasons({
  'merchant create': {
    changes: { created: (made) => (made as { id: string }).id },
    mayStart: 'inSandbox',
    summary: 'Registers a merchant and shows its API key, once.',
    words: ['name'],
    run: (service, words) => createMerchant(service, { name: word(words, 0) }),
  },
  'merchant list': {
    changes: 'nothing',
    summary: 'Lists the merchants.',
    run: async ({ db }) => allMerchants(db, {}),
  },
  'merchant addresses': {
    changes: toFirstWord,
    summary: "Sets the public keys that deposit addresses derive from, and adds a file's Solana addresses to the pool.",
    words: ['merchant id'],
    options: { evm: 'xpub', tron: 'xpub', solana: 'file' },
    names: { evmExtendedPublicKey: '--evm', tronExtendedPublicKey: '--tron', addresses: '--solana' },
    run: setAddresses,
  },
  ...keyCommands,
  'customer create': {
    changes: toWhatIsMade,
    summary: 'Registers a customer: an individual with --first-name and --last-name, a business with --business-name.',
    words: ['merchant id'],
    required: { type: 'individual or business', email: 'e-mail address', phone: 'phone number' },
    options: {
      'first-name': 'name',
      'last-name': 'name',
      'business-name': 'name',
      address: 'line',
      city: 'city',
      state: 'state',
      country: 'country',
    },
    names: { customerType: '--type', addressLine1: '--address' },
    run: newCustomer,
  },
  'customer close': {
    changes: toFirstWord,
    summary: 'Closes a customer: nothing can be made for it any more.',
    words: ['customer id'],
    run: async (service, words) => {
      const customerId = word(words, 0)
      const context = await contextOf(service, 'customer', customerId)
      const { result } = await closeCustomer(context, { customerId })
      return { id: result.id, status: result.status }
    },
  },
  ...listCommands,
  ...depositCommands,
  'payout settle': {
    changes: { ...toFirstWord, movesMoney: true },
    summary:
      'Records what the bank did with a payout; failed and returned put the money back. Told again, it changes nothing. One that a rail is still at work on takes --override.',
    words: ['payout id', 'completed, failed or returned'],
    flags: ['override'],
    names: { status: '<completed, failed or returned>', cause: '--reason', override: '--override' },
    run: async (service, words, { reason, override }) => {
      const payoutId = word(words, 0)
      const context = await contextOf(service, 'payout', payoutId)
      const status = word(words, 1).toUpperCase() as 'COMPLETED'
      const payout = await settlePayout(context, {
        ...{ payoutId, status, cause: reason },
        override: override !== undefined,
      })
      return { id: payout.id, status: payout.status, updatedAt: payout.updatedAt }
    },
  },
  ...railCommands,
  'rail check': railCheckCommand,
  ...attentionCommands,
  ...reconciliationCommands,
  ...exportCommands,
  ...webhookCommands,
  ...eventCommands,
  ...documentCommands,
  ...priceCommands,
  'asset add': {
    changes: toFirstWord,
    mayStart: 'inSandbox',
    summary: `Supports one more asset; networks are separated by commas, places are those of its minor unit. ${whatIsPaid}`,
    words: ['code', 'fiat or stablecoin'],
    options: { networks: 'list', places: 'number' },
    names: { assetType: '<fiat or stablecoin>', minorUnitPlaces: '--places' },
    run: async (service, words, { networks, places }) => ({
      ...(await addAssetCode(service, {
        code: word(words, 0),
        assetType: word(words, 1).toUpperCase() as 'FIAT',
        networks: (networks?.split(',') ?? []) as [],
        minorUnitPlaces: wholeNumber('places', places ?? '2'),
      })),
      note: whatIsPaid,
    }),
  },
  demo: {
    changes: { subject: () => 'demo' },
    mayStart: 'inSandbox',
    summary: 'Gives an empty database the demo merchant and shows its fixed key.',
    run: async (service) => {
      const isFree = (await hasDemo(service)) || (await allMerchants(service.db, {})).length === 0
      // It looks again, because another may come in between.
      if (isFree && (await seedDemo(sandboxOnly(service, 'demo')))) return { apiKey: demoApiKey }
      throw new Refusal('INVALID_INPUT', 'The database is not empty.')
    },
  },
  fill: {
    changes: { subject: () => 'fill' },
    mayStart: 'inSandbox',
    summary: 'Makes realistic data for load: so much for each of so many merchants.',
    options: Object.fromEntries(Object.keys(standardSizes).map((name) => [name, 'number'])),
    run: (service, _, options) => fill(sandboxOnly(service, 'fill'), sizesIn(options), progressOn(process.stderr)),
  },
  audit: auditCommand,
  console: consoleCommand,
  backup: {
    changes: 'nothing',
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
  restore: restoreCommand,
  doctor: doctorCommand,
  migrate: {
    changes: 'nothing',
    mayStart: 'inAnyMode',
    summary:
      'Brings the database to the latest form, as every start does, or makes a new one; with --backup it copies it before.',
    options: { backup: 'file' },
    copiesFirst: true,
    // Opening the database has done it.
    run: async () => ({ migrated: true }),
  },
})

async function setAddresses(service: Service, words: readonly string[], { evm, tron, solana }: Options) {
  const merchantId = word(words, 0)
  const keys = { merchantId, evmExtendedPublicKey: evm, tronExtendedPublicKey: tron }
  // First, so that nothing is half-written where it can't be read.
  const lines = solana === undefined ? [] : (await readFile(solana, 'utf8')).split(/\s+/).filter(Boolean)
  const merchant = await setExtendedPublicKeys(service, keys)
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
  return { id: customer.result.id }
}

function sizesIn(options: Options): typeof standardSizes {
  const sizes = Object.entries(standardSizes).map(([name, size]) => [
    name,
    wholeNumber(name, options[name] ?? `${size}`),
  ])
  return Object.fromEntries(sizes)
}
