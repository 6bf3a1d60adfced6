import { readFile } from 'node:fs/promises'
import { DomainError } from '../core/errors.ts'
import { demoApiKey, hasDemo, seedDemo } from '../demo/demo.ts'
import { seedLoadData } from '../demo/load/seed.ts'
import { addAssetCode } from '../modules/asset-codes/add-asset-code.ts'
import { closeCustomer } from '../modules/customers/close-customer.ts'
import { createCustomer } from '../modules/customers/create-customer.ts'
import { createMerchant } from '../modules/merchants/create-merchant.ts'
import { findMerchant } from '../modules/merchants/find-merchant.ts'
import { allMerchants } from '../modules/merchants/repository.ts'
import { setExtendedPublicKeys } from '../modules/merchants/set-extended-public-keys.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { payoutAssetCodes, recipientCurrencies } from '../modules/payouts/payout.ts'
import { settlePayout } from '../modules/payouts/settle-payout.ts'
import { importSolanaAddresses } from '../modules/wallets/import-addresses.ts'
import type { Service } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import { attentionCommands } from './attention.ts'
import { auditCommand } from './audit-command.ts'
import type { OptionValues } from './command.ts'
import {
  parseWholeNumber,
  requireSandboxFor,
  subjectFromCreated,
  subjectFromFirstWord,
  withReasonOptions,
  wordAt,
} from './command.ts'
import { consoleCommand } from './console.ts'
import { depositCommands } from './deposits.ts'
import { doctorCommand } from './doctor-command.ts'
import { documentCommands } from './document-commands.ts'
import { eventCommands } from './events.ts'
import { exportCommands } from './exports.ts'
import { keyCommands } from './keys-and-tokens.ts'
import { listCommands } from './list-commands.ts'
import { priceCommands } from './prices.ts'
import { railCheckCommand } from './rail-check.ts'
import { railCommands } from './rails.ts'
import { reconciliationCommands } from './reconciliation.ts'
import { restoreCommand } from './restore.ts'
import { webhookCommands } from './webhooks.ts'

const payoutPairsHelp = `Payouts are made from ${payoutAssetCodes.join(' and ')} and go to ${recipientCurrencies.join(' and ')} only.`

/** How much `fill` makes where nothing else is said. */
const defaultSizes = { merchants: 1, customers: 100, methods: 200, wallets: 100, payouts: 1000, seed: 1 }

/** Every operator command by its name, in the order in which they are explained. */
export const commands = withReasonOptions({
  'merchant create': {
    changes: { created: (made) => (made as { id: string }).id },
    databaseCreation: 'inSandbox',
    summary: 'Create a merchant. Shows its API key, once.',
    words: ['name'],
    run: (service, words) => createMerchant(service, { name: wordAt(words, 0) }),
  },
  'merchant list': {
    changes: 'nothing',
    summary: 'List the merchants.',
    columns: { id: { priority: 1 }, name: { priority: 2 }, createdAt: { header: 'created', priority: 3 } },
    run: async ({ db }) => allMerchants(db, {}),
  },
  'merchant addresses': {
    changes: subjectFromFirstWord,
    summary:
      "Set where deposit addresses come from. Takes account-level extended public keys for EVM networks and Tron, and a file of Solana addresses for the merchant's pool.",
    words: ['merchant id'],
    options: {
      evm: ['xpub', 'account-level key of EVM networks'],
      tron: ['xpub', 'account-level key of Tron'],
      solana: ['file', 'addresses, one a line'],
    },
    names: { evmExtendedPublicKey: '--evm', tronExtendedPublicKey: '--tron', addresses: '--solana' },
    run: setAddresses,
  },
  ...keyCommands,
  'customer create': {
    changes: subjectFromCreated,
    summary: 'Create a customer. An individual needs --first-name and --last-name, a business --business-name.',
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
    changes: subjectFromFirstWord,
    summary: 'Close a customer. Nothing can be created for it afterwards.',
    words: ['customer id'],
    run: async (service, words) => {
      const customerId = wordAt(words, 0)
      const context = await createOwnerContext(service, 'customer', customerId)
      const { result } = await closeCustomer(context, { customerId })
      return { id: result.id, status: result.status }
    },
  },
  ...listCommands,
  ...depositCommands,
  'payout settle': {
    changes: { ...subjectFromFirstWord, movesMoney: true },
    summary:
      'Record what the bank did with a payout. failed and returned credit the wallet again. Repeating it changes nothing. Requires --override while a rail still works on the payout.',
    words: ['payout id', 'completed, failed or returned'],
    flags: { override: 'settle it although a rail still works on it' },
    names: { status: '<completed, failed or returned>', cause: '--reason', override: '--override' },
    run: async (service, words, { reason, override }) => {
      const payoutId = wordAt(words, 0)
      const context = await createOwnerContext(service, 'payout', payoutId)
      const status = wordAt(words, 1).toUpperCase() as 'COMPLETED'
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
    changes: subjectFromFirstWord,
    databaseCreation: 'inSandbox',
    summary: `Support another asset. ${payoutPairsHelp}`,
    words: ['code', 'fiat or stablecoin'],
    options: {
      networks: ['list', 'networks that have it, separated by commas'],
      places: ['number', 'decimal places of its minor unit, 2 unless given'],
    },
    names: { assetType: '<fiat or stablecoin>', minorUnitPlaces: '--places' },
    run: async (service, words, { networks, places }) => ({
      ...(await addAssetCode(service, {
        code: wordAt(words, 0),
        assetType: wordAt(words, 1).toUpperCase() as 'FIAT',
        networks: (networks?.split(',') ?? []) as [],
        minorUnitPlaces: parseWholeNumber('places', places ?? '2'),
      })),
      note: payoutPairsHelp,
    }),
  },
  demo: {
    changes: { subject: () => 'demo' },
    databaseCreation: 'inSandbox',
    summary: 'Create the demo merchant in an empty database. Shows its fixed API key.',
    run: async (service) => {
      const isFree = (await hasDemo(service)) || (await allMerchants(service.db, {})).length === 0
      // It looks again, because another may come in between.
      if (isFree && (await seedDemo(requireSandboxFor(service, 'demo')))) return { apiKey: demoApiKey }
      throw new DomainError('INVALID_INPUT', 'The database is not empty.')
    },
  },
  fill: {
    changes: { subject: () => 'fill' },
    databaseCreation: 'inSandbox',
    summary: 'Generate data for load tests. All counts but --merchants are for each merchant.',
    // A key is shown only once, so it must not be shortened.
    columns: { apiKey: { priority: 1, isWrapped: true }, name: { priority: 2 } },
    options: Object.fromEntries(
      Object.entries(defaultSizes).map(([name, size]) => [name, ['number', `${size} unless given`]]),
    ),
    run: (service, _, options, { progress }) =>
      seedLoadData(requireSandboxFor(service, 'fill'), parseSizes(options), progress.show),
  },
  audit: auditCommand,
  console: consoleCommand,
  backup: {
    changes: 'nothing',
    summary: 'Copy the database to a new file. The copy is of one moment, and the server may keep running.',
    words: ['file'],
    run: async ({ db }, words, _, { progress }) => {
      const file = wordAt(words, 0)
      await db.backup(file, progress.show)
      return { file }
    },
  },
  restore: restoreCommand,
  doctor: doctorCommand,
  migrate: {
    changes: 'nothing',
    databaseCreation: 'inAnyMode',
    summary:
      'Migrate the database to the latest schema. Every start does so too. Creates a database where there is none.',
    options: { backup: ['file', 'copy the database to this new file before'] },
    canBackUpFirst: true,
    // Opening the database has done it.
    run: async () => ({ migrated: true }),
  },
})

async function setAddresses(service: Service, words: readonly string[], { evm, tron, solana }: OptionValues) {
  const merchantId = wordAt(words, 0)
  const keys = { merchantId, evmExtendedPublicKey: evm, tronExtendedPublicKey: tron }
  // First, so that nothing is half-written where it can't be read.
  const lines = solana === undefined ? [] : (await readFile(solana, 'utf8')).split(/\s+/).filter(Boolean)
  const merchant = await setExtendedPublicKeys(service, keys)
  const pool = await importSolanaAddresses(createContext(service, merchant.id), { addresses: lines })
  return { ...merchant, solana: pool }
}

async function newCustomer(service: Service, words: readonly string[], options: OptionValues) {
  const merchant = await findMerchant(service.db, wordAt(words, 0))
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

function parseSizes(options: OptionValues): typeof defaultSizes {
  const sizes = Object.entries(defaultSizes).map(([name, size]) => [
    name,
    parseWholeNumber(name, options[name] ?? `${size}`),
  ])
  return Object.fromEntries(sizes)
}
