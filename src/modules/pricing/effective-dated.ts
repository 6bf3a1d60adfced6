import { z } from 'zod'
import type { DomainError, FieldError } from '../../core/errors.ts'
import { invalidInput, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { instant, oneOf, optional, optionalText, parseInput, text } from '../../core/input.ts'
import { ConflictError } from '../../database/database.ts'
import type { Reader, Tx } from '../../database/query.ts'
import type { SliceRequest } from '../../lists/slice.ts'
import { createInMemoryList, readSlice, sliceFields } from '../../lists/slice.ts'
import type { Service } from '../../operations/context.ts'
import type { AssetCode } from '../asset-codes/asset-code.ts'
import { assetCodeErrors } from '../asset-codes/asset-code.ts'

/** A stored price never changes. A price can be cancelled until the price takes effect. */
type EffectiveDatedRow = {
  readonly effectiveAt: string
  readonly revision: number
  readonly cancelledAt: string | null
}

/** A `PAST` price has been replaced by a later price. */
const priceStates = ['IN_FORCE', 'FUTURE', 'PAST', 'CANCELLED'] as const
export type PriceState = (typeof priceStates)[number]

type PriceKind<Row, Code extends string> = {
  readonly name: 'rates' | 'fees'
  readonly noun: 'Rate' | 'Fee'
  readonly pair: readonly [from: Code, to: Code]
  readonly rowsFrom: (db: Reader, p: CodePair<Code> & { at: string }) => Promise<Row[]>
  readonly allRows: (db: Reader, p: object) => Promise<Row[]>
  readonly setCancelled: (tx: Tx, p: Row & { cancelledAt: string }) => Promise<Row | null>
}

type CodePair<Code extends string> = Readonly<Record<Code, string>>

type PriceFilter<Code extends string> = { readonly [Field in Code]?: string | undefined } & {
  readonly state?: PriceState | undefined
}

export function effectiveDatedPrices<Row extends EffectiveDatedRow & CodePair<Code>, Code extends string>(
  kind: PriceKind<Row, Code>,
) {
  const { name, noun, rowsFrom, allRows, setCancelled } = kind
  const [from, to] = kind.pair
  const CancelInput = z.object({ [from]: text(), [to]: text(), effectiveAt: instant() })
  const pairFields = { [from]: optionalText(), [to]: optionalText() }
  const ListInput = z.object({ ...pairFields, state: optional(oneOf(priceStates)), ...sliceFields })

  return {
    pairErrors: (assets: readonly AssetCode[], input: CodePair<Code>): FieldError[] => [
      ...assetCodeErrors(assets, { field: from, code: input[from], assetType: 'STABLECOIN' }),
      ...assetCodeErrors(assets, { field: to, code: input[to], assetType: 'FIAT' }),
    ],
    /**
     * A new price takes effect at `requestedAt`, or now if `requestedAt` is `null`. `later` lists the pair's prices
     * with a later start.
     *
     * @throws DomainError INVALID_INPUT if the time is in the past or already has a price
     */
    nextRevision: async (
      tx: Tx,
      { wallClock }: Service,
      { requestedAt, ...pair }: CodePair<Code> & { requestedAt: string | null },
    ) => {
      const effectiveAt = parseEffectiveTime(wallClock(), requestedAt)
      const rows = await rowsFrom(tx, { ...(pair as unknown as CodePair<Code>), at: effectiveAt })
      const same = rows.filter((row) => row.effectiveAt === effectiveAt)
      if (uncancelledRows(same).length > 0)
        throw effectiveAtError(`must differ from ${effectiveAt}, which is set already`)
      const revisionFields = { effectiveAt, revision: same.length + 1, cancelledAt: null }
      return { revisionFields, later: upcomingRows(effectiveAt, rows) }
    },
    upcoming: async (db: Reader, pair: CodePair<Code> & { at: string }) =>
      upcomingRows(pair.at, await rowsFrom(db, pair)),
    /**
     * A cancelled price remains recorded, and another price may be set for the same time. Cancelling a cancelled price
     * changes nothing.
     *
     * @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND, INVALID_INPUT if the price has
     *   taken effect
     */
    cancel: async (service: Service, input: CodePair<Code> & { effectiveAt: string }): Promise<Row> => {
      const { effectiveAt, ...pair } = parseInput(CancelInput, input) as typeof input
      return service.db.write(async (tx) => {
        const rows = await rowsFrom(tx, { ...(pair as unknown as CodePair<Code>), at: effectiveAt })
        const same = rows.filter((row) => row.effectiveAt === effectiveAt)
        const latest = same.find(({ revision }) => revision === same.length)
        if (!latest) throw notFound(noun)
        if (latest.cancelledAt !== null) return latest
        const at = timestamp(service.wallClock())
        if (effectiveAt <= at) throw effectiveAtError(tooLateMessage)
        const cancelled = await setCancelled(tx, { ...latest, cancelledAt: at })
        if (!cancelled) throw new ConflictError(`another request cancelled the ${noun.toLowerCase()}`)
        return cancelled
      })
    },
    /**
     * Lists prices by pair, newest first. Only operators list prices, so reading all rows is acceptable.
     *
     * @throws DomainError INVALID_INPUT
     */
    list: async ({ db, wallClock }: Service, input: PriceFilter<Code> & z.input<z.ZodObject<typeof sliceFields>>) => {
      const { first, after, last, before, ...filter } = parseInput(ListInput, input) as SliceRequest & object
      const rows = withStates(await allRows(db, {}), {
        pairOf: (row) => `${row[from]} ${row[to]}`,
        now: timestamp(wallClock()),
      })
      const criteria = Object.entries(filter).filter(([, value]) => value !== null)
      const matching = rows.filter((row) => criteria.every(([field, value]) => row[field as keyof Row] === value))
      return readSlice(createInMemoryList([name, filter], matching), { first, after, last, before })
    },
  }
}

function parseEffectiveTime(now: number, requestedAt: string | null): string {
  const time = requestedAt === null ? now : Date.parse(requestedAt)
  if (time >= now) return timestamp(time)
  throw effectiveAtError('must not be in the past')
}

const tooLateMessage = 'must be in the future: payouts may already have used this price. Set another one instead'

function effectiveAtError(message: string): DomainError {
  return invalidInput([{ field: 'effectiveAt', code: 'INVALID_PARAMETER', message }])
}

function upcomingRows<Row extends EffectiveDatedRow>(time: string, rows: readonly Row[]): Row[] {
  return uncancelledRows(rows.filter(({ effectiveAt }) => effectiveAt > time))
}

function uncancelledRows<Row extends EffectiveDatedRow>(rows: readonly Row[]): Row[] {
  return rows.filter(({ cancelledAt }) => cancelledAt === null)
}

/** Within each pair, `rows` must be sorted newest first. */
function withStates<Row extends EffectiveDatedRow>(
  rows: readonly Row[],
  { pairOf, now }: { pairOf: (row: Row) => string; now: string },
): (Row & { readonly state: PriceState })[] {
  const inForce = new Set<string>()
  return rows.map((row) => ({ ...row, state: stateOf(row, pairOf(row)) }))

  function stateOf({ effectiveAt, cancelledAt }: Row, pair: string): PriceState {
    if (cancelledAt !== null) return 'CANCELLED'
    if (effectiveAt > now) return 'FUTURE'
    if (inForce.has(pair)) return 'PAST'
    inForce.add(pair)
    return 'IN_FORCE'
  }
}
