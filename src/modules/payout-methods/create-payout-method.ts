import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import {
  asciiWord,
  identifier,
  oneOf,
  optional,
  optionalFreeText,
  optionalIdentifier,
  optionalUuidOrEmpty,
  parseInput,
  text,
} from '../../core/input.ts'
import type { Tx } from '../../database/query.ts'
import type { NewRowOf } from '../../database/tables.ts'
import { newRowFieldsOfOwner } from '../../lists/sequence.ts'
import type { Context, IdempotentResult } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import { assetCodeErrors, assetNetworkErrors, findAsset } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { lockActiveCustomer } from '../customers/get-customer.ts'
import { addressFormatError } from '../networks/input-formats.ts'
import type { Network } from '../networks/network.ts'
import { networks } from '../networks/network.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { checkBankDetails } from './checks/check-bank-details.ts'
import { checkWalletAddress } from './checks/check-wallet-address.ts'
import { payoutMethods } from './list.ts'
import type { BankPayoutMethod, PayoutMethodType, WalletPayoutMethod } from './payout-method.ts'
import { insertPayoutMethod } from './repository.ts'

/** The endpoint determines the type of the payout method, so `type` is optional in the request (ruling 104). */
const typeOfEndpoint = <const Type extends PayoutMethodType>(type: Type) =>
  optional(oneOf([type])).transform(() => type)

export const CreateBankPayoutMethodInput = z.object({
  type: typeOfEndpoint('BANK'),
  accountName: text(),
  accountNumber: identifier(),
  bankName: text(),
  currency: text(),
  bankCode: identifier(),
  customerId: optionalUuidOrEmpty(),
  sortCode: optionalIdentifier(),
  swiftCode: optionalIdentifier(),
  routingNumber: optionalIdentifier(),
  iban: optionalIdentifier(),
})

export const CreateWalletPayoutMethodInput = z.object({
  type: typeOfEndpoint('WALLET'),
  walletAddress: asciiWord(128),
  network: z.string().min(1),
  currency: text(),
  customerId: optionalUuidOrEmpty(),
  label: optionalFreeText(100),
})

/**
 * Contract 4.4. The same bank account may be registered twice (ruling 28). A bank account with a failed check is
 * accepted, and the result of the check is stored (ruling 23).
 *
 * @param input `currency` is a supported fiat currency. If `customerId` is absent, the merchant owns the payout method
 */
export const createBankPayoutMethod = defineOperation(
  {
    name: 'createBankPayoutMethod',
    input: CreateBankPayoutMethodInput,
    scope: 'payout_methods',
    actsAsCustomer: true,
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  },
  async (context, input): Promise<IdempotentResult<BankPayoutMethod>> => {
    const assets = await assetCodesWithNetworks(context.db)
    const request = parseInput(
      CreateBankPayoutMethodInput,
      input,
      assetCodeErrors(assets, { field: 'currency', code: input.currency, assetType: 'FIAT' }),
    )
    return runOnce(context, 'createBankPayoutMethod', request, (tx) =>
      addPayoutMethod(tx, context, {
        ...absentDetails,
        ...request,
        checks: checkBankDetails(request),
      }),
    )
  },
)

/**
 * Contract 4.6. The same wallet address may be registered twice (ruling 28). An address with a wrong format is
 * rejected, but an address with a wrong checksum is accepted, and the result of the check is stored (ruling 23).
 *
 * @param input `network` is one of the stablecoin's networks. If `customerId` is absent, the merchant owns the payout
 * method
 */
export const createWalletPayoutMethod = defineOperation(
  {
    name: 'createWalletPayoutMethod',
    input: CreateWalletPayoutMethodInput,
    scope: 'payout_methods',
    actsAsCustomer: true,
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  },
  async (context, input): Promise<IdempotentResult<WalletPayoutMethod>> => {
    const assets = await assetCodesWithNetworks(context.db)
    const stablecoins = assets.filter(({ assetType }) => assetType === 'STABLECOIN')
    const parsed = parseInput(CreateWalletPayoutMethodInput, input, [
      ...assetCodeErrors(assets, { field: 'currency', code: input.currency, assetType: 'STABLECOIN' }),
      // If the currency is invalid, the network is checked against the networks of the first stablecoin, so that the
      // response can report both errors.
      ...assetNetworkErrors(findAsset(stablecoins, input.currency) ?? stablecoins[0], {
        field: 'network',
        network: input.network,
      }),
      ...addressErrors(input),
    ])
    const request = { ...parsed, network: parsed.network as Network }
    return runOnce(context, 'createWalletPayoutMethod', request, (tx) =>
      addPayoutMethod(tx, context, {
        ...absentDetails,
        ...request,
        checks: checkWalletAddress(request),
      }),
    )
  },
)

/** Ruling 23. */
function addressErrors({ network, walletAddress }: z.input<typeof CreateWalletPayoutMethodInput>): FieldError[] {
  const { data: address } = CreateWalletPayoutMethodInput.shape.walletAddress.safeParse(walletAddress)
  const knownNetwork = networks.find((each) => each === network)
  const message = address !== undefined && knownNetwork ? addressFormatError(knownNetwork, address) : null
  return message === null ? [] : [{ field: 'walletAddress', code: 'INVALID_FORMAT', message }]
}

const absentDetails = {
  ...{ accountName: null, accountNumber: null, bankName: null, bankCode: null },
  ...{ sortCode: null, swiftCode: null, routingNumber: null, iban: null },
  ...{ label: null, walletAddress: null, network: null },
}

type PayoutMethodDetails = Omit<
  NewRowOf<'payoutMethods'>,
  'merchantId' | 'id' | 'sequence' | 'ownerSequence' | 'createdAt' | 'updatedAt'
>

async function addPayoutMethod<Details extends PayoutMethodDetails>(tx: Tx, context: Context, details: Details) {
  const { merchantId } = context
  await lockActiveCustomer(tx, context, details.customerId)
  const ownerId = details.customerId ?? merchantId
  const row = { ...(await newRowFieldsOfOwner(tx, context, { ownerId, name: 'payout_methods' })), ...details }
  await insertPayoutMethod(tx, row)
  const method = { ...row, ownerId }
  await payoutMethods.count(tx, method, 1)
  await recordEvent(tx, context, {
    type: 'payout_method.created',
    objectId: method.id,
    at: method.createdAt,
    data: method,
  })
  return method
}
