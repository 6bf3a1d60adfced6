import type { Reader, Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { numberImportedRowOfOwner } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { findAsset } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { openWalletAccount, postTransfer } from '../ledger/post-transfer.ts'
import type { ImportedEventData } from '../outbox/event.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { wallets } from '../wallets/list.ts'
import {
  addressesOfWallets,
  claimAddress,
  insertWallet,
  insertWalletAddress,
  walletAddressesByIds,
} from '../wallets/repository.ts'
import type { ImportOptions, ImportOutcome } from './import-outcome.ts'
import { findOwners, importRows } from './import-outcome.ts'
import { merchantsOfAddresses, transfersByIds, walletsByIds, walletsOfAddresses } from './repository.ts'
import type { SourceAddress, SourceWallet } from './source-object.ts'

/**
 * The statement of an imported wallet begins with an opening entry for the wallet's balance (ruling 143).
 *
 * The original provider keeps the custody of imported addresses. The service shows imported addresses, but no rail
 * watches them, and no other wallet gets them.
 */
export async function importWallets(
  context: Context,
  rows: readonly SourceWallet[],
  options: ImportOptions,
): Promise<ImportOutcome[]> {
  const { merchantId } = context
  return importRows(context, rows, options, {
    findStored: async (db, ids) => walletsByIds(db, { merchantId, ids }),
    prepare: (db, stored) => readWhatExists(db, context, { rows, stored, options }),
    complete: ({ addressesOf }, stored, { id, addresses }) => ({
      ...stored,
      addresses: addresses && (addressesOf.get(id) ?? []).map(toSourceAddress),
    }),
    findProblem: (known, row) =>
      known.findOwnerProblem(row) ??
      findAssetProblem(known, row) ??
      (known.transferIds.has(row.id) ? 'has the id of a transfer of this merchant' : null) ??
      findAddressProblem(known, context, row),
    insert: (tx, row) => insertImportedWallet(tx, context, row),
    remember: ({ walletOfAddress, walletOfAddressId }, { id, addresses }) => {
      for (const each of addresses ?? []) {
        walletOfAddress.set(addressKey(each), id)
        walletOfAddressId.set(each.id, id)
      }
    },
  })
}

type Known = Awaited<ReturnType<typeof readWhatExists>>

async function readWhatExists(
  db: Reader,
  context: Context,
  {
    rows,
    stored,
    options,
  }: {
    readonly rows: readonly SourceWallet[]
    readonly stored: ReadonlyMap<string, unknown>
    readonly options: ImportOptions
  },
) {
  const { merchantId } = context
  const ids = rows.map(({ id }) => id)
  const given = rows.flatMap(({ addresses }) => addresses ?? [])
  const addresses = given.map(({ address }) => address)
  const existingAddresses = await addressesOfWallets(db, { merchantId, walletIds: [...stored.keys()] })
  const sameIds = await walletAddressesByIds(db, { merchantId, ids: given.map(({ id }) => id) })
  const sameAddresses = await walletsOfAddresses(db, { merchantId, addresses })
  const claims = await merchantsOfAddresses(db, { addresses })
  return {
    addressesOf: Map.groupBy(existingAddresses, ({ walletId }) => walletId),
    findOwnerProblem: await findOwners(db, context, rows, options),
    assets: await assetCodesWithNetworks(db),
    transferIds: new Set((await transfersByIds(db, { merchantId, ids })).map(({ id }) => id)),
    walletOfAddress: new Map(sameAddresses.map((each) => [addressKey(each), each.walletId])),
    walletOfAddressId: new Map(sameIds.map(({ id, walletId }) => [id, walletId])),
    merchantOfAddress: new Map(claims.map(({ address, merchantId }) => [address, merchantId])),
  }
}

function addressKey({ address, network }: Pick<SourceAddress, 'address' | 'network'>): string {
  return `${network} ${address}`
}

function toSourceAddress({ id, address, network, createdAt }: RowOf<'walletAddresses'>): SourceAddress {
  return { id, address, network, createdAt }
}

function findAssetProblem({ assets }: Known, { currency, assetType }: SourceWallet): string | null {
  const asset = findAsset(assets, currency)
  if (asset?.code !== currency) return `has the currency ${currency}, which is not supported`
  return asset.assetType === assetType ? null : `has the asset type ${assetType}, but ${currency} is ${asset.assetType}`
}

function findAddressProblem(
  { walletOfAddress, walletOfAddressId, merchantOfAddress }: Known,
  { merchantId }: Context,
  { addresses }: SourceWallet,
): string | null {
  const seen = new Set<string>()
  for (const each of addresses ?? []) {
    const { id, address } = each
    const owner = merchantOfAddress.get(address)
    const other = walletOfAddress.get(addressKey(each)) ?? walletOfAddressId.get(id)
    if (owner !== undefined && owner !== merchantId) return `has the address ${address}, which is in use`
    if (other !== undefined) return `has an address of wallet ${other}, ${address}`
    if (seen.has(id) || seen.has(addressKey(each))) return `has the address ${address} twice`
    seen.add(id).add(addressKey(each))
  }
  return null
}

async function insertImportedWallet(tx: Tx, context: Context, row: SourceWallet): Promise<void> {
  const { merchantId } = context
  const { balance, addresses, ...columns } = row
  const { id, currency: assetCode, customerId, status, createdAt, updatedAt } = row
  const ownerId = customerId ?? merchantId
  const numbered = await numberImportedRowOfOwner(tx, merchantId, { row, ownerId, name: 'wallets' })
  const wallet = { ...columns, ...numbered }
  await openWalletAccount(tx, { merchantId, walletId: id, assetCode })
  await insertWallet(tx, wallet)
  await wallets.count(tx, { ...wallet, ownerId }, 1)
  for (const address of addresses ?? []) {
    // The merchant may already have the same address in another wallet, on another network.
    await claimAddress(tx, { address: address.address, merchantId })
    await insertWalletAddress(tx, { ...address, merchantId, walletId: id, custody: 'external' })
  }
  if (balance > 0n) {
    const opening = { kind: 'opening', assetCode, amount: balance, fee: 0n, walletId: id } as const
    await postTransfer(tx, context, { ...opening, id, cause: { reference: openingReference(id) } })
  }
  const data: ImportedEventData = { imported: true, balance: String(balance), status, updatedAt }
  await recordEvent(tx, context, { type: 'wallet.created', objectId: id, at: createdAt, data })
}

function openingReference(walletId: string): string {
  return `import:${walletId}`
}

export async function findUnknownWalletIds({ db, merchantId }: Context, ids: readonly string[]): Promise<Set<string>> {
  const unknown = new Set(ids)
  if (ids.length > 0) for (const { id } of await walletsByIds(db, { merchantId, ids })) unknown.delete(id)
  return unknown
}
