import { readFile } from 'node:fs/promises'
import { DomainError } from '../core/errors.ts'
import { demoApiKey, hasDemo, seedDemo } from '../demo/demo.ts'
import { seedLoadData } from '../demo/load/seed.ts'
import { addAssetCode } from '../modules/asset-codes/add-asset-code.ts'
import { closeCustomer } from '../modules/customers/close-customer.ts'
import { createCustomer } from '../modules/customers/create-customer.ts'
import { createMerchant } from '../modules/merchants/create-merchant.ts'
import { createMerchantContext, findMerchant } from '../modules/merchants/merchant.ts'
import { allMerchants } from '../modules/merchants/repository.ts'
import { setExtendedPublicKeys } from '../modules/merchants/set-extended-public-keys.ts'
import { parseWholeNumber } from '../modules/operators/actions/action-declaration.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { payoutAssetCodes, recipientCurrencies } from '../modules/payouts/payout.ts'
import { importSolanaAddresses } from '../modules/wallets/deposit-address.ts'
import type { Service } from '../operations/context.ts'
import type { OptionValues } from './command.ts'
import { requireSandboxFor, subjectFromCreated, subjectFromFirstWord, withReasonOptions, wordAt } from './command.ts'
import { consoleCommand } from './console.ts'
import { contractCommands } from './contract/contract-command.ts'
import { copyCommand } from './copy.ts'
import { depositCommands } from './deposits.ts'
import { documentCommands } from './documents.ts'
import { eventCommands } from './events.ts'
import { exportCommands } from './exports.ts'
import { findCommand } from './find.ts'
import { importCommand } from './import/import-command.ts'
import { keyCommands } from './keys-and-tokens.ts'
import { listCommands } from './list-commands.ts'
import { auditCommand, maintenanceCommands } from './maintenance-commands.ts'
import { operatorCommands } from './operators.ts'
import { priceCommands } from './prices.ts'
import { railCommands } from './rails.ts'
import { webhookCommands } from './webhooks.ts'

const payoutPairsHelp = `Payouts are made from ${payoutAssetCodes.join(' and ')} and go to ${recipientCurrencies.join(' and ')} only.`

const defaultSizes = { merchants: 1, customers: 100, methods: 200, wallets: 100, payouts: 1000, seed: 1 }

export const commands = withReasonOptions({
  'merchant create': {
    changes: { created: (merchant) => (merchant as { id: string }).id },
    databaseCreation: 'inSandbox',
    summary: 'Create a merchant. Shows its API key once.',
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
      "Set the source of a merchant's deposit addresses. Addresses of EVM networks and Tron are derived from account-level extended public keys. Solana addresses come from a pool that a file fills.",
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
    run: createCustomerFor,
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
  find: findCommand,
  ...listCommands,
  ...depositCommands,
  ...railCommands,
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
      places: ['number', 'decimal places of its minor unit, default 2'],
    },
    names: { assetType: '<fiat or stablecoin>', minorUnitPlaces: '--places' },
    run: async (service, words, { networks, places }) => ({
      ...(await addAssetCode(service, {
        code: wordAt(words, 0),
        assetType: wordAt(words, 1).toUpperCase() as 'FIAT',
        networks: (networks?.split(',') ?? []) as [],
        minorUnitPlaces: parseWholeNumber('minorUnitPlaces', places ?? '2'),
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
      if (isFree && (await seedDemo(requireSandboxFor(service, 'demo')))) return { apiKey: demoApiKey }
      throw new DomainError('INVALID_INPUT', 'The database is not empty: the demo needs an empty database.')
    },
  },
  fill: {
    changes: { subject: () => 'fill' },
    databaseCreation: 'inSandbox',
    summary: 'Generate data for load tests. All counts but --merchants are for each merchant.',
    // An API key is shown only once, so it must not be truncated.
    columns: { apiKey: { priority: 1, isWrapped: true }, name: { priority: 2 } },
    options: Object.fromEntries(
      Object.entries(defaultSizes).map(([name, size]) => [name, ['number', `default ${size}`]]),
    ),
    run: (service, _, options, { progress }) =>
      seedLoadData(requireSandboxFor(service, 'fill'), parseSizes(options), progress.show),
  },
  audit: auditCommand,
  console: consoleCommand,
  ...operatorCommands,
  copy: copyCommand,
  import: importCommand,
  ...contractCommands,
  ...maintenanceCommands,
})

async function setAddresses(service: Service, words: readonly string[], { evm, tron, solana }: OptionValues) {
  const merchantId = wordAt(words, 0)
  const keys = { merchantId, evmExtendedPublicKey: evm, tronExtendedPublicKey: tron }
  // The address file may be unreadable, so the command reads the file before it writes anything.
  const lines = solana === undefined ? [] : (await readFile(solana, 'utf8')).split(/\s+/).filter(Boolean)
  const merchant = await setExtendedPublicKeys(service, keys)
  const solanaPool = await importSolanaAddresses(await createMerchantContext(service, merchant.id), {
    addresses: lines,
  })
  return { ...merchant, solana: solanaPool }
}

async function createCustomerFor(service: Service, words: readonly string[], options: OptionValues) {
  const merchant = await findMerchant(service.db, wordAt(words, 0))
  // The API contract requires an address of every customer. An operator may not know the address yet.
  const { address = 'unknown', city = 'unknown', state = 'unknown', country = 'unknown' } = options
  const customer = await createCustomer(await createMerchantContext(service, merchant.id), {
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
