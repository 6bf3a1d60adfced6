import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import type { DeclaredList } from '../../src/lists/declaration.ts'
import { declaredLists } from '../../src/lists/declaration.ts'
import { defineList } from '../../src/lists/define-list.ts'
import type { FilterKind } from '../../src/lists/filters.ts'
import { filterByText } from '../../src/lists/filters.ts'
import type { Context } from '../../src/operations/context.ts'
import { createContext } from '../../src/operations/context.ts'
import { everyEngine, startApp } from '../support/app.ts'
// Declares the lists of every module.
import '../../src/modules/deposits/list.ts'
import '../../src/server/graphql/schema.ts'

type Input = Readonly<Record<string, unknown>>
type Browse = (context: Context, input: Input) => Promise<Cursors>
type Cursors = { readonly cursorOf: (item: object) => string }

const [id, otherId] = ['0190b5e2-0000-7000-8000-000000000001', '0190b5e2-0000-7000-8000-000000000002']
const row = { sequence: 7, ownerSequence: 7 }
const always = { createdFrom: null, createdBefore: null }
const lists = declaredLists.map((list) => [list.name, list] as const)

/** The list with one more filter, declared by the two lines of `docs/how-to-add.md`. */
function withInvented(list: DeclaredList): { fields: DeclaredList['filters']; browse: Browse } {
  const column = list.name === 'deposits' ? 'deposits.transferId' : `${list.table}.id`
  const conditions = { ...list.conditions, invented: { column } }
  const filters = { ...list.filters, invented: filterByText('Only what a test invents.') }
  const { slice } = defineList({ ...list, conditions, filters } as never)
  // Test files share a process, and others read the declared lists.
  declaredLists.pop()
  return { fields: filters, browse: async (context, input) => slice(context, input as never) as unknown as Cursors }
}

function valuesOf(kind: FilterKind): readonly unknown[] {
  if (kind === 'owner') return ['merchant', { customerId: id }, { customerId: otherId }]
  if (kind === 'text') return ['NGN', 'USDC']
  return 'idOf' in kind ? [id, otherId] : kind
}

/**
 * No filter, each filter with each of its values, and each pair with their first ones; for statements those of a
 * wallet.
 */
function inputsOf(list: DeclaredList, fields: DeclaredList['filters']): Input[] {
  const whose = list.name === 'entries' ? { walletId: id } : {}
  const times = ['createdFrom', 'createdBefore'].map((field) => [{ [field]: '2026-01-01T00:00:00.000Z' }])
  const each: Input[][] = [
    ...Object.entries(fields).map(([field, { kind }]) => valuesOf(kind).map((value) => ({ [field]: value }))),
    ...times,
  ]
  const pairs = each.flatMap(([one], i) => each.slice(i + 1).map(([other]) => ({ ...one, ...other })))
  return [{}, ...each.flat(), ...pairs].map((input) => ({ ...whose, ...input }))
}

/** Removes the filters that other filters imply: both inputs select the same rows, so they share cursors. */
const withoutImplied: Record<string, (input: Input) => Input> = {
  wallets: ({ assetType, ...others }) => ({
    ...others,
    ...(assetType !== typesOf[others.currency as 'NGN']?.[0] && { assetType }),
  }),
  payout_methods: ({ type, ...others }) => ({
    ...others,
    ...(type !== typesOf[others.currency as 'NGN']?.[1] && { type }),
  }),
}

const typesOf = { NGN: ['FIAT', 'BANK'], USDC: ['STABLECOIN', 'WALLET'] }

function named(list: string, input: Input): string {
  const left = Object.entries(withoutImplied[list]?.(input) ?? input).filter(([, value]) => value !== undefined)
  return JSON.stringify(left.sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Whether a list accepts a cursor; it must reject one with an error for `after` alone. */
async function takes(browse: Browse, context: Context, input: Input, after: string): Promise<boolean> {
  try {
    await browse(context, { ...input, after })
    return true
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const fault = { field: 'after', code: 'INVALID_PARAMETER', message: 'must be a cursor that this list gave' }
    expect(error.details.fields).toEqual([fault])
    return false
  }
}

describe.each(everyEngine)('cursors of lists on %s', (engine) => {
  test.each(lists)(
    'a cursor of %s is rejected under any other filter, including a filter that is added later',
    async (name, list) => {
      const app = await startApp(engine)
      const { fields, browse } = withInvented(list)
      const inputs = inputsOf(list, fields)
      const cursorsOf = (context: Context) =>
        Promise.all(inputs.map(async (input) => (await browse(context, input)).cursorOf(row)))
      const cursors = await cursorsOf(app.context())
      const others = await cursorsOf(createContext(app.service, (await app.otherMerchant()).id))
      const wrong: string[] = []
      for (const [i, input] of inputs.entries()) {
        for (const [j, cursor] of cursors.entries()) {
          // An empty list has no rows and so no cursors.
          const isSame = named(name, input) === named(name, inputs[j] as Input) && !atob(cursor).endsWith(':0')
          const isTaken = await takes(browse, app.context(), input, cursor)
          if (isTaken !== isSame) wrong.push(`${JSON.stringify(input)} of ${JSON.stringify(inputs[j])}: ${isTaken}`)
        }
        expect(await takes(browse, app.context(), input, others[i] as string), 'of another merchant').toBe(false)
      }
      expect(wrong).toEqual([])
    },
  )

  test('a cursor in the older format is accepted unless the input has a filter that was added later', async () => {
    const app = await startApp(engine)
    const merchantId = app.merchant.id
    const earlier = (...name: readonly unknown[]) =>
      btoa(`${hash('sha256', JSON.stringify([...name, always]), 'base64url').slice(0, 12)}:7`)
    const cases: [string, Input, Input, string][] = [
      ['wallets', {}, { status: 'frozen' }, earlier('wallets', { merchantId, assetType: null, currency: null })],
      [
        'payout_methods',
        { owner: { customerId: id } },
        { owner: 'any' },
        earlier('payout_methods', { merchantId, owner: { customerId: id }, type: null, currency: null }),
      ],
      [
        'entries',
        { walletId: id, kind: 'deposit' },
        { walletId: id },
        earlier('entries', { merchantId, walletId: id, direction: null, kind: 'deposit' }),
      ],
    ]
    const withEarlier = lists.filter(([, list]) => list.previousCursors).map(([name]) => name)
    // Lists have the order in which their modules were loaded.
    expect(cases.map(([name]) => name).sort()).toEqual(withEarlier.sort())
    for (const [name, input, other, cursor] of cases) {
      const { browse } = withInvented(lists.find(([each]) => each === name)?.[1] as DeclaredList)
      expect(await takes(browse, app.context(), input, cursor), name).toBe(true)
      expect(await takes(browse, app.context(), { ...input, invented: 'x' }, cursor), name).toBe(false)
      expect(await takes(browse, app.context(), { ...input, createdFrom: '2026-01-01T00:00:00Z' }, cursor), name).toBe(
        false,
      )
      if (name !== 'wallets') expect(await takes(browse, app.context(), other, cursor), name).toBe(false)
    }
  })
})
