/**
 * Queries return values on SQLite, and promises on PostgreSQL. `await` of a plain value would take as long as a fast
 * SQLite query.
 */
export type MaybePromise<Value> = Value | Promise<Value>

export function mapMaybe<Value, Mapped>(
  value: MaybePromise<Value>,
  map: (value: Value) => MaybePromise<Mapped>,
): MaybePromise<Mapped> {
  return value instanceof Promise ? value.then(map) : map(value)
}

/**
 * Returns synchronously if no value is a promise. If several promises reject, throws the error of the first rejected
 * promise in `values`.
 */
export function allOrFirstError<const Values extends readonly unknown[]>(
  values: Values,
): MaybePromise<AwaitedElements<Values>> {
  return (values.some(isPromise) ? settleAll(values) : values) as MaybePromise<AwaitedElements<Values>>
}

type AwaitedElements<Values> = { -readonly [Index in keyof Values]: Awaited<Values[Index]> }

function isPromise(value: unknown): boolean {
  return value instanceof Promise
}

async function settleAll(values: readonly unknown[]): Promise<unknown[]> {
  try {
    return await Promise.all(values)
  } catch {
    const outcomes = await Promise.allSettled(values)
    throw outcomes.find((each) => each.status === 'rejected')?.reason
  }
}
