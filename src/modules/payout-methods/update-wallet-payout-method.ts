import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { DomainError, invalidInput } from '../../core/errors.ts'
import { lookupId, optionalUuidOrEmpty, parseInput, sentFields } from '../../core/input.ts'
import type { IdempotentResult } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import type { AssetCode } from '../asset-codes/asset-code.ts'
import { assetCodeErrors, assetNetworkErrors, findAsset } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { lockActiveCustomer } from '../customers/get-customer.ts'
import { addressFormatError } from '../networks/input-formats.ts'
import { checkWalletAddress } from './checks/check-wallet-address.ts'
import { CreateWalletPayoutMethodInput } from './create-payout-method.ts'
import type { WalletPayoutMethod } from './payout-method.ts'
import { updateWalletDetails } from './repository.ts'
import { lockOwnedPayoutMethod, recordMethodChange } from './update-bank-payout-method.ts'

const { customerId: _, ...fields } = CreateWalletPayoutMethodInput.shape

// Fields that are absent from the request keep their value; a label that is null or empty is cleared.
const UpdateWalletPayoutMethodInput = z.object({
  payoutMethodId: lookupId(),
  customerId: optionalUuidOrEmpty(),
  ...z.object(fields).partial().shape,
})

/** This message has no full stop, because the original provider's message has none (ruling 126). */
const notFoundMessage = 'Wallet not found'

/**
 * Ruling 126. For a payout method of the type BANK, throws RESOURCE_NOT_FOUND.
 *
 * @param input `customerId` identifies the owner; the owner of a payout method cannot change
 * @throws DomainError INVALID_INPUT, also if currency, network and address do not match after the change
 */
export const updateWalletPayoutMethod = defineOperation(
  {
    name: 'updateWalletPayoutMethod',
    input: UpdateWalletPayoutMethodInput,
    scope: 'payout_methods',
    actsAsCustomer: true,
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  },
  async (context, input): Promise<IdempotentResult<WalletPayoutMethod>> => {
    const assets = await assetCodesWithNetworks(context.db)
    const request = parseInput(
      UpdateWalletPayoutMethodInput,
      input,
      assetCodeErrors(assets, { field: 'currency', code: input.currency, assetType: 'STABLECOIN' }),
    )
    const { payoutMethodId, customerId, type: _, ...parsed } = request
    const changes = sentFields(input, parsed) as Partial<WalletPayoutMethod>
    return runOnce(context, 'updateWalletPayoutMethod', { payoutMethodId, customerId, changes }, async (tx) => {
      const method = await lockOwnedPayoutMethod(tx, context, request)
      if (method?.type !== 'WALLET') throw new DomainError('RESOURCE_NOT_FOUND', notFoundMessage)
      await lockActiveCustomer(tx, context, method.customerId)

      const merged = { ...method, ...changes }
      if (JSON.stringify(merged) === JSON.stringify(method)) return method
      const errors = destinationErrors(assets, method, merged)
      if (errors.length > 0) throw invalidInput(errors)
      const updated = { ...merged, checks: checkWalletAddress(merged), updatedAt: newUpdatedAt(context, method) }
      await updateWalletDetails(tx, updated)
      await recordMethodChange(tx, context, { before: method, after: updated })
      return updated
    })
  },
)

/**
 * If a request changes neither currency, network nor address, the update succeeds even if the network is no longer
 * offered (ruling 102).
 */
function destinationErrors(
  assets: readonly AssetCode[],
  before: WalletPayoutMethod,
  { currency, network, walletAddress }: WalletPayoutMethod,
): FieldError[] {
  const isSameNetwork = currency === before.currency && network === before.network
  if (isSameNetwork && walletAddress === before.walletAddress) return []
  const networkErrors = isSameNetwork
    ? []
    : assetNetworkErrors(findAsset(assets, currency), { field: 'network', network })
  if (networkErrors.length > 0) return networkErrors
  const message = addressFormatError(network, walletAddress)
  return message === null ? [] : [{ field: 'walletAddress', code: 'INVALID_FORMAT', message }]
}
