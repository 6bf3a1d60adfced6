import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { freeText, optional, optionalUuid, parseInput, text } from '../../core/input.ts'
import type { Tx } from '../../database/query.ts'
import { newRowFieldsOfOwner } from '../../lists/sequence.ts'
import type { Context, IdempotentResult } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import type { AssetCode } from '../asset-codes/asset-code.ts'
import { assetCodeErrors, assetNetworkErrors, findAsset } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { lockActiveCustomer } from '../customers/get-customer.ts'
import { openWalletAccount } from '../ledger/post-transfer.ts'
import type { Network } from '../networks/network.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { nextDepositAddress } from './deposit-address.ts'
import { wallets } from './list.ts'
import { insertWallet, insertWalletAddress, insertWatchedAddress } from './repository.ts'
import type { Wallet } from './wallet.ts'

const CreateWalletInput = z.object({
  currency: text(),
  description: freeText(255),
  customerId: optionalUuid(),
  network: optional(z.string()),
})

type WalletRequest = Omit<z.output<typeof CreateWalletInput>, 'network'> & { network: Network | null; asset: AssetCode }

/**
 * Contract 4.9. A stablecoin wallet gets a deposit address on `network`.
 *
 * @param input `network` is required for a stablecoin and not allowed for a fiat currency. If `customerId` is absent,
 * the merchant owns the wallet
 */
export const createWallet = defineOperation(
  {
    name: 'createWallet',
    input: CreateWalletInput,
    scope: 'wallets',
    actsAsCustomer: true,
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED', 'DEPOSIT_ADDRESS_UNAVAILABLE'],
  },
  async (context, input): Promise<IdempotentResult<Wallet>> => {
    const { asset, ...request } = await parseRequest(context, input)
    const { result, isReplayed } = await runOnce(context, 'createWallet', request, async (tx) => {
      await lockActiveCustomer(tx, context, request.customerId)
      const address = request.network && (await nextDepositAddress(tx, context, request.network))
      return openWallet(tx, context, { ...request, asset }, address)
    })
    return { result: { ...result, balance: 0n }, isReplayed }
  },
)

async function parseRequest({ db }: Context, input: z.input<typeof CreateWalletInput>): Promise<WalletRequest> {
  const assets = await assetCodesWithNetworks(db)
  const asset = findAsset(assets, input.currency)
  const parsed = parseInput(CreateWalletInput, input, [
    ...assetCodeErrors(assets, { field: 'currency', code: input.currency }),
    ...networkErrors(asset, input.network),
  ])
  if (!asset) throw new Error(`the asset code ${parsed.currency} passed validation but does not exist`)
  return { ...parsed, network: parsed.network as Network | null, asset }
}

/** Ruling 29. */
function networkErrors(asset: AssetCode | undefined, network: unknown): FieldError[] {
  if (!asset) return []
  const field = 'network'
  const isGiven = network !== undefined && network !== null && network !== ''
  if (asset.networks === null) {
    const message = `must be absent for the fiat currency ${asset.code}`
    return isGiven ? [{ field, code: 'INVALID_PARAMETER', message }] : []
  }
  if (isGiven) return assetNetworkErrors(asset, { field, network })
  const supported = asset.networks.map(({ network }) => network).join(', ')
  return [{ field, code: 'MISSING_REQUIRED_FIELD', message: `is required for ${asset.code}: one of ${supported}` }]
}

async function openWallet(
  tx: Tx,
  context: Context,
  { asset, network, ...request }: WalletRequest,
  address: string | null,
): Promise<Omit<Wallet, 'balance'>> {
  const { merchantId } = context
  const ownerId = request.customerId ?? merchantId
  const row = {
    ...(await newRowFieldsOfOwner(tx, context, { ownerId, name: 'wallets' })),
    ...request,
    assetType: asset.assetType,
    status: 'active',
  } as const
  await openWalletAccount(tx, { merchantId, walletId: row.id, assetCode: asset.code })
  await insertWallet(tx, row)
  await wallets.count(tx, { ...row, ownerId }, 1)
  await recordEvent(tx, context, { type: 'wallet.created', objectId: row.id, at: row.createdAt, version: 1 })
  if (network === null || address === null) return { ...row, ownerId, addresses: [] }

  const id = context.newId()
  const walletAddress = {
    merchantId,
    walletId: row.id,
    id,
    network,
    address,
    createdAt: row.createdAt,
    custody: 'own',
  } as const
  await insertWalletAddress(tx, walletAddress)
  await insertWatchedAddress(tx, { addressId: id, merchantId, walletId: row.id, number: null })
  return { ...row, ownerId, addresses: [walletAddress] }
}
