import {
  addQuery,
  exposeColumn,
  exposeNullableColumn,
  exposeNullableStrings,
  exposeStrings,
  nullableComputedField,
  objectType,
  queryField,
} from '../../graphql/schema/fields.ts'
import { optional, required } from '../../graphql/schema/inputs.ts'
import { BankCountryEnum, CheckCodeEnum, PayoutMethodTypeEnum } from './graphql.ts'
import type { FieldRequirement, PayoutMethodRequirements } from './payout-method-requirements.ts'
import { getPayoutMethodRequirements } from './payout-method-requirements.ts'

const FieldRequirementType = objectType<FieldRequirement>('FieldRequirement', {
  description: 'A form field and its valid values.',
  fields: {
    ...exposeStrings({
      name: 'The name of the field in the input of the mutation.',
      label: 'The label to show next to the field.',
      description: 'A sentence that explains it.',
    }),
    isRequired: exposeColumn('isRequired', 'Whether it must be filled in.', 'Boolean'),
    maxLength: exposeNullableColumn(
      'maxLength',
      'The maximum number of characters; null if `allowedValues` lists all values.',
      'Int',
    ),
    ...exposeNullableStrings({
      pattern:
        'A JavaScript regular expression (with the flag `u`) that the text must match; null if any text is valid.',
      example: 'A valid value; null if there is no example.',
    }),
    allowedValues: nullableComputedField(
      ['String'],
      ['allowedValues'],
      'The values to choose from, as spelled in their enum; null for free text.',
      ({ allowedValues }) => allowedValues?.map((value) => value.toUpperCase()) ?? null,
    ),
    checks: exposeColumn(
      'checks',
      'The checks that run on this field. A failed check is reported and rejects nothing.',
      [CheckCodeEnum],
    ),
  },
})

const PayoutMethodRequirementsType = objectType<PayoutMethodRequirements>('PayoutMethodRequirements', {
  description: 'The fields of a form that registers a payout method in a currency.',
  fields: {
    currency: exposeColumn('currency', 'The requested currency or stablecoin.'),
    country: exposeNullableColumn('country', 'The country of the banks of the currency; null for a stablecoin.'),
    type: exposeColumn('type', 'The type of payout method for this currency.', PayoutMethodTypeEnum),
    fields: exposeColumn('fields', 'The fields, in the order to show them.', [FieldRequirementType]),
  },
})

addQuery(
  'payoutMethodRequirements',
  queryField(
    PayoutMethodRequirementsType,
    'The fields of a form that registers a payout method, with the valid values of each.',
    {
      currency: required('The code of the currency or stablecoin, such as `NGN`.'),
      country: optional('The country of the bank; optional, because the currency implies it.', BankCountryEnum),
    },
    getPayoutMethodRequirements,
  ),
)
