import type { GeneratedAlways } from 'kysely'
import type { DueTime } from '../core/ids-and-clock.ts'

/**
 * What a column holds, the same on every engine: `text`, `uuid` and `timestamp` are strings in memory, `integer` a
 * number, `amount` a bigint, `json` any JSON value.
 */
export type ColumnKind = 'text' | 'uuid' | 'timestamp' | 'integer' | 'amount' | 'json'

/**
 * One column: its kind, whether it may hold NULL, whether the engine computes it, and (in the type only) what it holds in
 * memory.
 */
export type Column<Value, IsGenerated extends boolean = false> = {
  readonly kind: ColumnKind
  readonly isNullable: boolean
  readonly isGenerated: IsGenerated
  readonly value?: Value
}

const column = <Value>(kind: ColumnKind): Column<Value> => ({ kind, isNullable: false, isGenerated: false })

/** Text; the type parameter narrows it to a list of values. */
export const text = <Value extends string = string>(): Column<Value> => column('text')
export const uuid = (): Column<string> => column('uuid')
export const timestamp = (): Column<string> => column('timestamp')
export const integer = (): Column<number> => column('integer')
export const amount = (): Column<bigint> => column('amount')
export const json = <Value>(): Column<Value> => column('json')

/** A moment in milliseconds since 1970, where the engine reckons with it: of the same kind as amounts. */
export const milliseconds = (): Column<bigint> => column('amount')

/** A wall time from which on something is due. */
export const dueTime = (): Column<DueTime> => column('amount')

/** A column that may hold NULL. */
export const nullable = <Value>({ kind }: Column<Value>): Column<Value | null> => ({
  ...column(kind),
  isNullable: true,
})

/** A column that the engine computes from others; it is read, never written. */
export const generated = <Value>(column: Column<Value>): Column<Value, true> => ({ ...column, isGenerated: true })

type TableColumns = Record<string, Column<unknown, boolean>>

type ColumnValue<C> = C extends Column<infer Value, boolean> ? Exclude<Value, undefined> : never

/** Kysely's view of the tables. */
export type TableTypes<Tables extends Record<string, TableColumns>> = {
  [T in keyof Tables]: {
    [C in keyof Tables[T]]: Tables[T][C] extends Column<unknown, true>
      ? GeneratedAlways<ColumnValue<Tables[T][C]>>
      : ColumnValue<Tables[T][C]>
  }
}

/** A row as it is read. */
export type SelectableRow<Table extends TableColumns> = { readonly [C in keyof Table]: ColumnValue<Table[C]> }

/** A row as it is written: every column that the engine does not compute, absent values as `null`. */
export type InsertableRow<Table extends TableColumns> = {
  readonly [C in keyof Table as Table[C] extends Column<unknown, true> ? never : C]: ColumnValue<Table[C]>
}
