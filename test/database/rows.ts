import type { Compilable, RawBuilder } from 'kysely'
import type { MaybePromise } from '../../src/core/maybe-promise.ts'
import type { Reader } from '../../src/database/query.ts'
import { acrossMerchants, query } from '../../src/database/query.ts'

/** Builds a raw SQL query across merchants. */
export function rawQuery<Row>(text: RawBuilder<Row>): (db: Reader) => MaybePromise<Row[]> {
  const run = query(() => acrossMerchants(text as unknown as Compilable<Row>))
  return (db) => run(db, {})
}

/** Turns a synchronous throw into a rejection. */
export async function attempt<Result>(run: () => Result | Promise<Result>): Promise<Result> {
  return run()
}

/** The id numbered `number`. */
export function idOf(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

/** The row of a merchant numbered `number`. */
export function merchantRow(number: number) {
  return {
    id: idOf(number),
    name: `Merchant ${number}`,
    evmExtendedPublicKey: null,
    tronExtendedPublicKey: null,
    createdAt: '2026-01-01T00:00:00.000Z',
  }
}

/** A row of about 100 KB that belongs to merchant 1. */
export function keyRow(number: number) {
  return {
    merchantId: idOf(1),
    operation: 'test',
    key: String(number),
    fingerprint: '',
    result: { text: 'x'.repeat(100_000) },
    createdAt: '2026-01-01T00:00:00.000Z',
    oldest: '',
  }
}

/** 1 to `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1)
}
