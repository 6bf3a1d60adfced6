import { addQuery, exposeColumn, exposeNullableColumn, exposeNullableStrings, exposeStrings, nullableComputedField, objectType, queryField } from '../../graphql/schema/fields.ts'
import { optional, required } from '../../graphql/schema/inputs.ts'
import { BankCountryEnum, CheckCodeEnum, PayoutMethodTypeEnum } from './graphql.ts'
import type { FieldRequirement, PayoutMethodRequirements } from './payout-method-requirements.ts'
import { getPayoutMethodRequirements } from './payout-method-requirements.ts'

const FieldRequirementType = objectType<FieldRequirement>('FieldRequirement', {
  description: 'A field that a form asks for, and what will be taken in it.',
  fields: {
    ...exposeStrings({
      name: 'The name of the field in the input of the mutation.',
      label: 'What to write beside it.',
      description: 'A sentence that explains it.',
    }),
    isRequired: exposeColumn('isRequired', 'Whether it must be filled in.', 'Boolean'),
    maxLength: exposeNullableColumn(
      'maxLength',
      'The most characters that it takes; null where `allowedValues` say all.',
      'Int',
    ),
    ...exposeNullableStrings({
      pattern:
        'A JavaScript regular expression (with the flag `u`) that its text must match; null where any text is taken.',
      example: 'A value that passes; null where there is none.',
    }),
    allowedValues: nullableComputedField(
      ['String'],
      ['allowedValues'],
      'The values to choose from, as their enum spells them; null where it is free text.',
      ({ allowedValues }) => allowedValues?.map((value) => value.toUpperCase()) ?? null,
    ),
    checks: exposeColumn('checks', 'The checks that will be run on it; one that fails is shown and refuses nothing.', [
      CheckCodeEnum,
    ]),
  },
})

const PayoutMethodRequirementsType = objectType<PayoutMethodRequirements>('PayoutMethodRequirements', {
  description: 'What a form must ask for to register a payout method in a currency.',
  fields: {
    currency: exposeColumn('currency', 'The currency or stablecoin asked about.'),
    country: exposeNullableColumn('country', 'Where the banks of the currency are; null for a stablecoin.'),
    type: exposeColumn('type', 'What kind of method it takes.', PayoutMethodTypeEnum),
    fields: exposeColumn('fields', 'The fields, in the order in which to ask for them.', [FieldRequirementType]),
  },
})

addQuery(
  'payoutMethodRequirements',
  queryField(
    PayoutMethodRequirementsType,
    'Which fields a form must ask for to register a payout method, with what each takes.',
    {
      currency: required('The code of the currency or stablecoin, such as `NGN`.'),
      country: optional('The country of the bank; the currency says it already.', BankCountryEnum),
    },
    getPayoutMethodRequirements,
  ),
)
