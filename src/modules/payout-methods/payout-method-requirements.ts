import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { notOneOfError, oneOf, optional, parseInput, text, textRules } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import type { AssetCode, AssetNetwork } from '../asset-codes/asset-code.ts'
import { assetCodeErrors, findAsset } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import type { CheckCode, IdentifierCheck } from './checks/check.ts'
import { checkBankDetails } from './checks/check-bank-details.ts'
import { checkWalletAddress } from './checks/check-wallet-address.ts'
import { CreateBankPayoutMethodInput, CreateWalletPayoutMethodInput } from './create-payout-method.ts'
import type { PayoutMethodType } from './payout-method.ts'
import { assetTypeOfMethod, bankCountries, bankCountryOf, payoutMethodTypes } from './payout-method.ts'
import type { FieldText } from './payout-method-fields.ts'
import { bankExamples, bankFieldTexts, walletExamples, walletFieldTexts } from './payout-method-fields.ts'

export const PayoutMethodRequirementsInput = z.object({ currency: text(), country: optional(oneOf(bankCountries)) })

export type FieldRequirement = FieldText & {
  readonly name: string
  readonly isRequired: boolean
  /**
   * The maximum length in code points, after trimming and NFC normalization. `maxLength` is `null` if `allowedValues`
   * lists all values.
   */
  readonly maxLength: number | null
  /** A regular expression that requires the flag `u` or `v`. */
  readonly pattern: string | null
  readonly allowedValues: readonly string[] | null
  readonly checks: readonly CheckCode[]
  readonly example: string | null
}

export type PayoutMethodRequirements = {
  readonly currency: string
  /** The country is `null` for stablecoins, and for currencies that the API contract does not list. */
  readonly country: string | null
  readonly type: PayoutMethodType
  readonly fields: readonly FieldRequirement[]
}

/**
 * Derives the required fields from the input schemas of the operations, so that the response always matches the
 * validation.
 *
 * @param input `country` is the country of the bank and is optional
 * @throws DomainError INVALID_INPUT, also if currency and country do not match
 */
export async function getPayoutMethodRequirements(
  { db }: Service,
  input: z.input<typeof PayoutMethodRequirementsInput>,
): Promise<PayoutMethodRequirements> {
  const assets = await assetCodesWithNetworks(db)
  const asset = findAsset(assets, input.currency)
  const { currency } = parseInput(PayoutMethodRequirementsInput, input, [
    ...assetCodeErrors(assets, { field: 'currency', code: input.currency }),
    ...countryErrors(asset, input.country),
  ])
  const [type = 'BANK'] = payoutMethodTypes.filter((each) => assetTypeOfMethod[each] === asset?.assetType)
  return {
    currency,
    country: bankCountryOf(currency),
    type,
    fields: fieldsByType[type](currency, asset?.networks ?? []),
  }
}

const fieldsByType: Record<
  PayoutMethodType,
  (currency: string, networks: readonly AssetNetwork[]) => FieldRequirement[]
> = { BANK: bankFields, WALLET: (_, networks) => walletFields(networks) }

function countryErrors(asset: AssetCode | undefined, country: unknown): FieldError[] {
  const expected = asset && bankCountryOf(asset.code)
  const isKnown = bankCountries.some((each) => each === country)
  if (!asset || !isKnown || country === expected) return []
  const field = 'country'
  if (!expected) return [{ field, code: 'INVALID_PARAMETER', message: `must be absent for ${asset.code}` }]
  const { message, ...error } = notOneOfError(field, [expected])
  return [{ ...error, message: `${message} for a bank account in ${asset.code}` }]
}

function bankFields(currency: string): FieldRequirement[] {
  const examples = bankExamples(currency)
  const checkResults = checkBankDetails({ ...noDetails, ...examples, currency })
  return fieldRequirementsOf(CreateBankPayoutMethodInput, { texts: bankFieldTexts, examples, checkResults })
}

const noDetails = { accountNumber: '', bankCode: '', sortCode: '', swiftCode: '', routingNumber: '', iban: '' }

function walletFields(networks: readonly AssetNetwork[]): FieldRequirement[] {
  const allowed = networks.map(({ network }) => network)
  const checkResults = allowed.flatMap((network) => checkWalletAddress({ network, walletAddress: '' }))
  const examples = allowed[0] ? walletExamples(allowed[0]) : {}
  const fields = fieldRequirementsOf(CreateWalletPayoutMethodInput, {
    texts: walletFieldTexts,
    examples,
    checkResults,
  })
  return fields.map((field) => (field.name === 'network' ? { ...field, allowedValues: allowed } : field))
}

type FieldSources = {
  readonly texts: Readonly<Record<string, FieldText>>
  readonly examples: Readonly<Record<string, string>>
  readonly checkResults: readonly IdentifierCheck[]
}

function fieldRequirementsOf(schema: z.ZodObject, { texts, examples, checkResults }: FieldSources): FieldRequirement[] {
  return Object.entries<z.ZodType>(schema.shape as Record<string, z.ZodType>).flatMap(([name, field]) => {
    const text = texts[name]
    if (!text) return []
    const rule = textRules.get(field)
    return {
      name,
      ...text,
      isRequired: !field.safeParse(undefined).success,
      maxLength: rule?.maxLength ?? null,
      pattern: rule?.pattern ?? null,
      allowedValues: null,
      checks: [...new Set(checkResults.filter((check) => check.field === name).map(({ code }) => code))],
      example: examples[name] ?? null,
    }
  })
}
