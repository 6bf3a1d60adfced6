import type { GeneratedAlways } from 'kysely'
import type { DueTime } from '../core/ids-and-clock.ts'

/** JavaScript values: `text`, `uuid` and `timestamp` are strings, `integer` is a number, and `amount` is a bigint. */
export type ColumnKind = 'text' | 'uuid' | 'timestamp' | 'integer' | 'amount' | 'json'

export type Column<Value, IsGenerated extends boolean = false> = {
  readonly kind: ColumnKind
  readonly isNullable: boolean
  readonly isGenerated: IsGenerated
  readonly value?: Value
}

const column = <Value>(kind: ColumnKind): Column<Value> => ({ kind, isNullable: false, isGenerated: false })

export const text = <Value extends string = string>(): Column<Value> => column('text')
export const uuid = (): Column<string> => column('uuid')
export const timestamp = (): Column<string> => column('timestamp')
export const integer = (): Column<number> => column('integer')
export const amount = (): Column<bigint> => column('amount')
export const json = <Value>(): Column<Value> => column('json')

export const milliseconds = (): Column<bigint> => column('amount')

export const dueTime = (): Column<DueTime> => column('amount')

export const nullable = <Value>({ kind }: Column<Value>): Column<Value | null> => ({
  ...column(kind),
  isNullable: true,
})

export const generated = <Value>(column: Column<Value>): Column<Value, true> => ({ ...column, isGenerated: true })

type TableColumns = Record<string, Column<unknown, boolean>>

type ColumnValue<C> = C extends Column<infer Value, boolean> ? Exclude<Value, undefined> : never

export type TableTypes<Tables extends Record<string, TableColumns>> = {
  [T in keyof Tables]: {
    [C in keyof Tables[T]]: Tables[T][C] extends Column<unknown, true>
      ? GeneratedAlways<ColumnValue<Tables[T][C]>>
      : ColumnValue<Tables[T][C]>
  }
}

export type SelectableRow<Table extends TableColumns> = { readonly [C in keyof Table]: ColumnValue<Table[C]> }

export type InsertableRow<Table extends TableColumns> = {
  readonly [C in keyof Table as Table[C] extends Column<unknown, true> ? never : C]: ColumnValue<Table[C]>
}
