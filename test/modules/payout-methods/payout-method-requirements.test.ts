import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { addAssetCode } from '../../../src/modules/asset-codes/add-asset-code.ts'
import { networks } from '../../../src/modules/networks/network.ts'
import { checkCodes } from '../../../src/modules/payout-methods/checks/check.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from '../../../src/modules/payout-methods/create-payout-method.ts'
import type { PayoutMethodType } from '../../../src/modules/payout-methods/payout-method.ts'
import { walletExamples } from '../../../src/modules/payout-methods/payout-method-fields.ts'
import type { PayoutMethodRequirements } from '../../../src/modules/payout-methods/payout-method-requirements.ts'
import { getPayoutMethodRequirements } from '../../../src/modules/payout-methods/payout-method-requirements.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { leastCpuMs } from '../../support/cpu.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'

const currencies = ['NGN', 'ZAR', 'KES', 'USDC', 'USDT', 'PYUSD']

const operations = {
  BANK: createBankPayoutMethod,
  WALLET: createWalletPayoutMethod,
} satisfies Record<PayoutMethodType, unknown>

describe.each(everyEngine)('getPayoutMethodRequirements on %s', (engine) => {
  async function startWithAssets() {
    const app = await startApp(engine)
    await addAssetCode(app.service, { assetType: 'FIAT', code: 'KES', minorUnitPlaces: 2, networks: [] })
    await addAssetCode(app.service, {
      assetType: 'STABLECOIN',
      code: 'PYUSD',
      minorUnitPlaces: 6,
      networks: ['solana', 'trc20'],
    })
    return app
  }

  const requirementsOf = (app: App, currency: string) => getPayoutMethodRequirements(app.context(), { currency })

  test('returns the fields of a bank account for a fiat currency', async () => {
    const app = await startWithAssets()
    const { fields, ...others } = await requirementsOf(app, 'NGN')
    expect(others).toEqual({ currency: 'NGN', country: 'Nigeria', type: 'BANK' })
    expect(
      fields.map(({ name, isRequired, maxLength, checks, example }) => [name, isRequired, maxLength, checks, example]),
    ).toEqual([
      ['accountName', true, 255, [], 'Ada Obi'],
      ['accountNumber', true, 64, ['NUBAN'], '0690000032'],
      ['bankName', true, 255, [], 'Access Bank'],
      ['bankCode', true, 64, [], '044'],
      ['sortCode', false, 64, ['SORT_CODE'], '20-20-15'],
      ['swiftCode', false, 64, ['BIC'], 'ABNGNGLA'],
      ['routingNumber', false, 64, ['ABA'], '021000021'],
      ['iban', false, 64, ['IBAN'], 'GB82 WEST 1234 5698 7654 32'],
    ])
    expect(fields.every(({ allowedValues }) => allowedValues === null)).toBe(true)
  })

  test('returns the fields of a crypto address for a stablecoin, with its networks', async () => {
    const app = await startWithAssets()
    const { fields, ...others } = await requirementsOf(app, 'PYUSD')
    expect(others).toEqual({ currency: 'PYUSD', country: null, type: 'WALLET' })
    expect(fields).toMatchObject([
      { name: 'walletAddress', isRequired: true, maxLength: 128, checks: ['SOLANA_ADDRESS', 'TRON_ADDRESS'] },
      { name: 'network', isRequired: true, maxLength: null, pattern: null, allowedValues: ['solana', 'trc20'] },
      { name: 'label', isRequired: false, maxLength: 100, allowedValues: null, checks: [] },
    ])
  })

  test.each([
    ['NGN', 'Nigeria', 'Nigeria'],
    ['ZAR', 'South Africa', 'South Africa'],
    [' ZAR ', '', 'South Africa'],
    ['KES', null, null],
    ['USDC', undefined, null],
  ] as const)(
    'for the currency %s and the country %s, returns the country %s',
    async (currency, country, expectedCountry) => {
      const app = await startWithAssets()
      const requirements = await getPayoutMethodRequirements(app.context(), { currency, country })
      expect([requirements.currency, requirements.country]).toEqual([currency.trim(), expectedCountry])
    },
  )

  test.each([
    [{ currency: 'XXX' }, expect.stringMatching(/^currency must be one of (?=.*NGN)(?=.*KES)(?=.*USDT)(?=.*PYUSD)/)],
    [{ currency: '' }, 'currency must not be empty'],
    [{ currency: 'NGN', country: 'Utopia' }, 'country must be one of Nigeria, South Africa'],
    [{ currency: 'NGN', country: 'South Africa' }, 'country must be one of Nigeria for a bank account in NGN'],
    [{ currency: 'ZAR', country: 'Nigeria' }, 'country must be one of South Africa for a bank account in ZAR'],
    [{ currency: 'KES', country: 'Nigeria' }, 'country must be absent for KES'],
    [{ currency: 'USDC', country: 'Nigeria' }, 'country must be absent for USDC'],
  ])('rejects the input %o', async (input, expectedMessage) => {
    const app = await startWithAssets()
    const { code, details } = await domainErrorOf(() => getPayoutMethodRequirements(app.context(), input))
    expect([code, details.fields?.map(({ field, message }) => `${field} ${message}`)]).toEqual([
      'INVALID_INPUT',
      [expectedMessage],
    ])
  })

  describe.each(currencies)('the requirements of %s', (currency) => {
    type FieldValues = Record<string, string | undefined>

    async function register(app: App, { type }: PayoutMethodRequirements, values: FieldValues) {
      try {
        const input = { type, currency, ...values } as never
        const { result } = await operations[type](app.context(), input)
        return { method: result, invalidFields: [] }
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        return { method: null, invalidFields: error.details.fields?.map(({ field }) => field) ?? [error.code] }
      }
    }

    const addressOn = (network: string | undefined): FieldValues => {
      const known = networks.find((each) => each === network)
      return known ? { walletAddress: walletExamples(known).walletAddress } : {}
    }

    const valuesOf = ({ fields }: PayoutMethodRequirements): FieldValues =>
      Object.fromEntries(fields.map(({ name, example }) => [name, example ?? '123']))

    test('list every input field except `type`, `currency` and `customerId`', async () => {
      const requirements = await requirementsOf(await startWithAssets(), currency)
      const schema = operations[requirements.type].declaration.input
      const fieldNames = requirements.fields.map(({ name }) => name)
      const excluded = ['type', 'currency', 'customerId']
      expect(fieldNames).toEqual(Object.keys(schema.shape).filter((name) => !excluded.includes(name)))
    })

    test('mark exactly those fields as required that the create operation requires', async () => {
      const app = await startWithAssets()
      const requirements = await requirementsOf(app, currency)
      for (const { name, isRequired } of requirements.fields) {
        for (const missing of [undefined, '']) {
          const { invalidFields } = await register(app, requirements, { ...valuesOf(requirements), [name]: missing })
          expect([name, invalidFields]).toEqual([name, isRequired ? [name] : []])
        }
      }
    })

    test('state for each field the maximum length that the create operation enforces', async () => {
      const app = await startWithAssets()
      const requirements = await requirementsOf(app, currency)
      for (const { name, maxLength } of requirements.fields) {
        // An address must also have the format of its network (ruling 23).
        if (maxLength === null || name === 'walletAddress') continue
        const invalidFieldsAt = async (length: number) => {
          const values = { ...valuesOf(requirements), [name]: ` ${'1'.repeat(length)} ` }
          return (await register(app, requirements, values)).invalidFields
        }
        expect([name, await invalidFieldsAt(maxLength), await invalidFieldsAt(maxLength + 1)]).toEqual([
          name,
          [],
          [name],
        ])
      }
    })

    test('state for each field the values that the create operation accepts', async () => {
      const app = await startWithAssets()
      const requirements = await requirementsOf(app, currency)
      for (const { name, allowedValues } of requirements.fields) {
        if (allowedValues === null) continue
        for (const value of ['erc20', 'polygon', 'bep20', 'trc20', 'solana', 'ERC20', 'none']) {
          const values = { ...valuesOf(requirements), ...addressOn(value), [name]: value }
          const { invalidFields } = await register(app, requirements, values)
          expect([value, invalidFields]).toEqual([value, allowedValues.includes(value) ? [] : [name]])
        }
      }
    })

    test('list exactly the checks that the create operation runs, with examples that pass these checks', async () => {
      const app = await startWithAssets()
      const requirements = await requirementsOf(app, currency)
      const networks = requirements.fields.find(({ name }) => name === 'network')?.allowedValues ?? [undefined]
      const runChecks = new Map<string, Set<string>>()
      for (const network of networks) {
        const values = { ...valuesOf(requirements), ...addressOn(network), ...(network && { network }) }
        const { method } = await register(app, requirements, values)
        for (const { field, code } of method?.checks ?? []) {
          runChecks.set(field, (runChecks.get(field) ?? new Set()).add(code))
        }
      }
      const checkedFields = requirements.fields.filter(({ checks }) => checks.length > 0)
      expect(new Map(checkedFields.map(({ name, checks }) => [name, new Set(checks)]))).toEqual(runChecks)
      expect(checkedFields.flatMap(({ checks }) => checks).every((code) => checkCodes.includes(code))).toBe(true)

      const { method } = await register(app, requirements, valuesOf(requirements))
      expect(method?.checks.filter(({ outcome }) => outcome === 'FAILED')).toEqual([])
    })
  })

  // Tests the schemas of the operations, because registering a method for every value would take minutes.
  describe.each(['NGN', 'USDC'])('the pattern of a field in %s', (currency) => {
    const shape: Record<string, { safeParse: (value: string) => { success: boolean } }> =
      operations[currency === 'NGN' ? 'BANK' : 'WALLET'].declaration.input.shape

    async function fieldsWithPattern() {
      const { fields } = await requirementsOf(await startWithAssets(), currency)
      return fields.flatMap(({ name, pattern, maxLength }) => {
        if (pattern === null || maxLength === null) return []
        // A form may compile the pattern either way; the second is that of the HTML attribute.
        const expressions = [new RegExp(pattern, 'u'), new RegExp(`^(?:${pattern})$`, 'v')]
        return { name, pattern, maxLength, expressions, schema: shape[name] }
      })
    }

    type Fields = Awaited<ReturnType<typeof fieldsWithPattern>>

    function disagreements(fields: Fields, value: string) {
      const length = [...value.trim().normalize('NFC')].length
      // Fields share patterns, so each pattern is tested once.
      const resultsByPattern = new Map<string, boolean[]>()
      return fields.flatMap(({ name, pattern, maxLength, expressions, schema }) => {
        const byPattern = resultsByPattern.get(pattern) ?? expressions.map((expression) => expression.test(value))
        resultsByPattern.set(pattern, byPattern)
        const byForm = byPattern.map((isTaken) => length <= maxLength && isTaken)
        const byOperation = schema?.safeParse(value).success
        return byForm.every((isAccepted) => isAccepted === byOperation) ? [] : { name, value, byForm, byOperation }
      })
    }

    /** Whether the form and the operation accept the value for every field, and thus each part of it. */
    const isAcceptedByAll = (fields: Fields, value: string) =>
      fields.every(
        ({ expressions, schema }) =>
          schema?.safeParse(value).success && expressions.every((expression) => expression.test(value)),
      )

    test('accepts exactly the texts that the create operation accepts', async () => {
      const fields = await fieldsWithPattern()
      expect(fields).toHaveLength(currency === 'NGN' ? 8 : 2)
      const pieces = fc.constantFrom(
        ...['a', 'Z', '0', ' ', '  ', '.', '/', '_', '-', '!', '~', '\t', '\n', '\0', '\u007f', '\u0085', '\u00a0'],
        ...[
          '\u2000',
          '\u2028',
          '\u3000',
          '\ufeff',
          '\u202e',
          '\u2066',
          '\ud800',
          '\udc00',
          '\u212a',
          '\u037e',
          '\u1fef',
        ],
        ...['é', 'e\u0301', '\u0327', '😀', 'ẞ', '\u200b', '\u00ad'],
      )
      const shortText = fc.array(pieces, { maxLength: 12 }).map((each) => each.join(''))
      const longText = fc.tuple(pieces, fc.integer({ min: 60, max: 260 })).map(([piece, count]) => piece.repeat(count))
      const anyText = fc.oneof(
        { weight: 8, arbitrary: shortText },
        { weight: 2, arbitrary: fc.string({ unit: 'binary' }) },
        { weight: 1, arbitrary: longText },
      )
      fc.assert(
        fc.property(anyText, (value) => void expect(disagreements(fields, value)).toEqual([])),
        { numRuns: engine === 'sqlite' ? 600 : 60 },
      )
    })

    test.runIf(engine === 'sqlite')(
      'accepts exactly the characters that the create operation accepts, alone and within a text',
      async () => {
        const fields = await fieldsWithPattern()
        const differing: unknown[] = []
        for (const characters of chunksOf([...representativeCharacters()], 20)) {
          for (const character of characters) differing.push(...disagreements(fields, character))
          // All characters are tested together first; if they are accepted, each of them is.
          const embedded = characters.map((character) => `a${character}b`)
          if (isAcceptedByAll(fields, embedded.join(''))) continue
          for (const value of embedded) differing.push(...disagreements(fields, value))
        }
        expect(differing.slice(0, 10)).toEqual([])
      },
      120_000,
    )

    test('is matched in time linear in the length of the text', async () => {
      const fields = await fieldsWithPattern()
      for (const piece of [' ', 'a', 'a ', '\u00a0', '-', '!']) {
        const match = (length: number, times: number) => () => {
          const value = `a${piece.repeat(length)}\0`
          for (let i = 0; i < times; i++) {
            for (const { expressions } of fields) for (const expression of expressions) expression.test(value)
          }
        }
        // The same number of characters in one text and in a hundred; quadratic time would be a hundred times as long.
        expect(await leastCpuMs(match(20_000, 1)), piece).toBeLessThan(20 * (await leastCpuMs(match(200, 100))))
      }
    })
  })
})

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}

/** Ideographs, syllables, private use and supplementary planes: large ranges of similar characters. */
const isInUniformRange = (code: number) =>
  [
    [0x3400, 0x9fff],
    [0xac00, 0xd7a3],
    [0xe000, 0xf8ff],
    [0x10000, 0x2ffff],
  ].some(([first = 0, last = 0]) => code >= first && code <= last)

/**
 * All characters up to U+2FFFF that normalization changes or that are outside uniform ranges, and a sample of the
 * others.
 */
function* representativeCharacters(): Generator<string> {
  for (let code = 0; code <= 0x2ffff; code++) {
    const character = String.fromCodePoint(code)
    if (!isInUniformRange(code) || code % 29 === 0 || character.normalize('NFC') !== character) yield character
  }
}
