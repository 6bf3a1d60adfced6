import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { notOneOfError, oneOf, optional, parseInput, text, textRules } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import type { AssetCode, AssetNetwork } from '../asset-codes/asset-code.ts'
import { assetCodeErrors, findAsset } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { bankCountries, bankCountryOf } from './bank-countries.ts'
import type { CheckCode, IdentifierCheck } from './checks/check.ts'
import { checkBankDetails } from './checks/check-bank-details.ts'
import { checkWalletAddress } from './checks/check-wallet-address.ts'
import { CreateBankPayoutMethodInput, CreateWalletPayoutMethodInput } from './create-payout-method.ts'
import type { PayoutMethodType } from './payout-method.ts'
import type { FieldText } from './payout-method-fields.ts'
import { bankExamples, bankFieldTexts, walletExamples, walletFieldTexts } from './payout-method-fields.ts'

export const PayoutMethodRequirementsInput = z.object({ currency: text(), country: optional(oneOf(bankCountries)) })

/** One field that a form asks for: what to say about it, and what the operation will take. */
export type FieldRequirement = FieldText & {
  /** Its name in the operation's input. */
  readonly name: string
  readonly isRequired: boolean
  /** In code points of the trimmed text in NFC; `null` where `allowedValues` say all. */
  readonly maxLength: number | null
  /** The source of a regular expression, with the flag `u` or `v`, that takes what the operation takes but for its length. */
  readonly pattern: string | null
  readonly allowedValues: readonly string[] | null
  /** The checks that will be run on it; what they find refuses nothing (ruling 23). */
  readonly checks: readonly CheckCode[]
  readonly example: string | null
}

/** What it takes to register a payout method in a currency: the fields of the operation for its type, in its order. */
export type PayoutMethodRequirements = {
  readonly currency: string
  /** Where the banks of the currency are; `null` for a stablecoin, and where the contract names none. */
  readonly country: string | null
  readonly type: PayoutMethodType
  readonly fields: readonly FieldRequirement[]
}

/**
 * What a form must ask for to register a payout method: a bank's for fiat, a crypto address for a stablecoin.
 *
 * It is read off the schemas that the operations parse with, and off the checks themselves, so it can't say otherwise.
 *
 * @param input `country` that of the bank; it may be left out, as the currency says it
 * @throws Refusal INVALID_INPUT, also when currency and country do not agree
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
  if (asset?.networks) return { currency, country: null, type: 'WALLET', fields: walletFields(asset.networks) }
  return { currency, country: bankCountryOf(currency), type: 'BANK', fields: bankFields(currency) }
}

function countryErrors(asset: AssetCode | undefined, country: unknown): FieldError[] {
  const expected = asset && bankCountryOf(asset.code)
  const isKnown = bankCountries.some((each) => each === country)
  if (!asset || !isKnown || country === expected) return []
  const field = 'country'
  if (!expected) return [{ field, code: 'INVALID_PARAMETER', message: `must be absent for ${asset.code}` }]
  const { message, ...fault } = notOneOfError(field, [expected])
  return [{ ...fault, message: `${message} for a bank account in ${asset.code}` }]
}

function bankFields(currency: string): FieldRequirement[] {
  const examples = bankExamples(currency)
  const found = checkBankDetails({ ...noDetails, ...examples, currency })
  return fieldRequirementsOf(CreateBankPayoutMethodInput, { texts: bankFieldTexts, examples, checkResults: found })
}

const noDetails = { accountNumber: '', bankCode: '', sortCode: '', swiftCode: '', routingNumber: '', iban: '' }

function walletFields(networks: readonly AssetNetwork[]): FieldRequirement[] {
  const allowed = networks.map(({ network }) => network)
  const found = allowed.flatMap((network) => checkWalletAddress({ network, walletAddress: '' }))
  const examples = allowed[0] ? walletExamples(allowed[0]) : {}
  const fields = fieldRequirementsOf(CreateWalletPayoutMethodInput, {
    texts: walletFieldTexts,
    examples,
    checkResults: found,
  })
  return fields.map((field) => (field.name === 'network' ? { ...field, allowedValues: allowed } : field))
}

type FieldSources = {
  readonly texts: Readonly<Record<string, FieldText>>
  readonly examples: Readonly<Record<string, string>>
  /** What the checks found about some value of each field that they look at. */
  readonly checkResults: readonly IdentifierCheck[]
}

/** The fields of an operation's input that a form asks for, with what the schema of each says. */
function fieldRequirementsOf(
  schema: z.ZodObject,
  { texts, examples, checkResults: found }: FieldSources,
): FieldRequirement[] {
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
      checks: [...new Set(found.filter((check) => check.field === name).map(({ code }) => code))],
      example: examples[name] ?? null,
    }
  })
}
