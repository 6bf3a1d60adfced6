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

/** What a price in force at a time is stored as, a rate or a fee; rows are only added, and may be cancelled until they are in force. */
type EffectiveDatedRow = {
  readonly effectiveAt: string
  readonly revision: number
  readonly cancelledAt: string | null
}

/** What a row of prices is now: `PAST` once another has taken over. */
const priceStates = ['IN_FORCE', 'FUTURE', 'PAST', 'CANCELLED'] as const
export type PriceState = (typeof priceStates)[number]

/** Prices of one kind: what they are called, the fields that name the stablecoin and the currency, and their queries. */
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

/** What is done alike with rates and with fees. */
export function effectiveDatedPrices<Row extends EffectiveDatedRow & CodePair<Code>, Code extends string>(
  kind: PriceKind<Row, Code>,
) {
  const { name, noun, rowsFrom, allRows, setCancelled } = kind
  const [from, to] = kind.pair
  const CancelInput = z.object({ [from]: text(), [to]: text(), effectiveAt: instant() })
  const pairFields = { [from]: optionalText(), [to]: optionalText() }
  const ListInput = z.object({ ...pairFields, state: optional(oneOf(priceStates)), ...sliceFields })

  return {
    /** The faults of codes that are no stablecoin, or no currency. */
    pairErrors: (assets: readonly AssetCode[], input: CodePair<Code>): FieldError[] => [
      ...assetCodeErrors(assets, { field: from, code: input[from], assetType: 'STABLECOIN' }),
      ...assetCodeErrors(assets, { field: to, code: input[to], assetType: 'FIAT' }),
    ],
    /**
     * The place of a new row, which holds from the time `asked` on, else from now; with `later`, what takes over from it.
     *
     * @throws Refusal INVALID_INPUT for a time that has passed, or that a row stands for: what is in force then must stay known
     */
    nextRevision: async (
      tx: Tx,
      { wallClock }: Service,
      { asked, ...pair }: CodePair<Code> & { asked: string | null },
    ) => {
      const effectiveAt = parseEffectiveTime(wallClock(), asked)
      const rows = await rowsFrom(tx, { ...(pair as unknown as CodePair<Code>), at: effectiveAt })
      const same = rows.filter((row) => row.effectiveAt === effectiveAt)
      if (uncancelledRows(same).length > 0)
        throw effectiveAtError(`must differ from ${effectiveAt}, which is set already`)
      const place = { effectiveAt, revision: same.length + 1, cancelledAt: null }
      return { place, later: upcomingRows(effectiveAt, rows) }
    },
    /** The pair's rows that take over after a time, the next first. */
    upcoming: async (db: Reader, pair: CodePair<Code> & { at: string }) =>
      upcomingRows(pair.at, await rowsFrom(db, pair)),
    /**
     * Cancels a row before its time comes; it stays recorded, and another may be set for that time. One that is cancelled
     * already is answered as it is.
     *
     * @param input `effectiveAt` the time that it was set for
     * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND, INVALID_INPUT for one that is in force or was
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
     * A slice of all rows that were ever set, by pair, newest first; what each is now. An unknown asset matches nothing.
     *
     * Reads them all: only operators list them, and there are as many as were set.
     *
     * @throws Refusal INVALID_INPUT
     */
    list: async ({ db, wallClock }: Service, input: PriceFilter<Code> & z.input<z.ZodObject<typeof sliceFields>>) => {
      const { first, after, last, before, ...filter } = parseInput(ListInput, input) as SliceRequest & object
      const rows = withStates(await allRows(db, {}), {
        pairOf: (row) => `${row[from]} ${row[to]}`,
        now: timestamp(wallClock()),
      })
      const asked = Object.entries(filter).filter(([, value]) => value !== null)
      const found = rows.filter((row) => asked.every(([field, value]) => row[field as keyof Row] === value))
      return readSlice(createInMemoryList([name, filter], found), { first, after, last, before })
    },
  }
}

/** The stored form of the time from which a row holds. */
function parseEffectiveTime(now: number, asked: string | null): string {
  const time = asked === null ? now : Date.parse(asked)
  if (time >= now) return timestamp(time)
  throw effectiveAtError('must not be in the past')
}

const tooLateMessage = 'must be in the future: payouts may have been made at what is in force already, so set another'

function effectiveAtError(message: string): DomainError {
  return invalidInput([{ field: 'effectiveAt', code: 'INVALID_PARAMETER', message }])
}

function upcomingRows<Row extends EffectiveDatedRow>(time: string, rows: readonly Row[]): Row[] {
  return uncancelledRows(rows.filter(({ effectiveAt }) => effectiveAt > time))
}

/** The rows that are not cancelled. */
function uncancelledRows<Row extends EffectiveDatedRow>(rows: readonly Row[]): Row[] {
  return rows.filter(({ cancelledAt }) => cancelledAt === null)
}

/** What each row is at the moment `now`; `rows` come newest first within each pair. */
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
