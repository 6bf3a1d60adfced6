import Sqlite from 'better-sqlite3'
import pg from 'pg'

/** An executed statement: its number of bound values, its rows read or changed, and its time in SQLite. */
export type ExecutedStatement = {
  readonly text: string
  readonly values: number
  rows: number
  readonly micros: number | null
}

/** The statements of some work, and the number of round trips to a server. */
export type WatchedStatements = { readonly ran: readonly ExecutedStatement[]; readonly roundTrips: number }

let watching: { ran: ExecutedStatement[]; roundTrips: number } | null = null

/** Runs `work` and returns the statements of every connection of this process meanwhile. */
export async function watchStatements(work: () => Promise<unknown>): Promise<WatchedStatements> {
  const seen = { ran: [] as ExecutedStatement[], roundTrips: 0 }
  watching = seen
  try {
    await work()
  } finally {
    watching = null
  }
  return seen
}

watchSqlite()
watchPostgres()

/** Reports every better-sqlite3 statement. A call is synchronous, so its duration is CPU time. */
function watchSqlite(): void {
  const prototype = Object.getPrototypeOf(new Sqlite(':memory:').prepare('select 1')) as Record<
    string,
    (this: Sqlite.Statement, ...values: unknown[]) => unknown
  >
  for (const method of ['all', 'get', 'run']) {
    const call = prototype[method]
    if (!call) throw new Error(`a statement of SQLite has no ${method}`)
    prototype[method] = function (...values) {
      if (watching === null) return call.apply(this, values)
      const before = process.hrtime.bigint()
      const result = call.apply(this, values)
      const micros = Number(process.hrtime.bigint() - before) / 1_000
      watching.ran.push({ text: this.source, values: values.flat().length, rows: rowsIn(result), micros })
      return result
    }
  }
}

function rowsIn(result: unknown): number {
  if (Array.isArray(result)) return result.length
  return (result as { changes?: number } | undefined)?.changes ?? (result === undefined ? 0 : 1)
}

/** Parses the bytes sent to PostgreSQL, because the service implements the protocol itself. */
function watchPostgres(): void {
  const watched = new WeakSet<pg.Connection>()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...words: never[]) {
    if (!watched.has(this.connection)) {
      watched.add(this.connection)
      watchConnection(this.connection)
    }
    return (query as (...words: never[]) => unknown).apply(this, words)
  } as typeof query
}

function watchConnection(connection: pg.Connection): void {
  const texts = new Map<string, string>()
  const bound: ExecutedStatement[] = []
  const waiting: ExecutedStatement[] = []
  const { stream } = connection
  const write = stream.write.bind(stream)
  stream.write = ((sent: Buffer, ...words: never[]) => {
    for (const { type, body } of messagesIn(sent)) {
      if (type === 'P') texts.set(textAt(body, 0), textAt(body, textAt(body, 0).length + 1))
      if (type === 'B') bound.push(boundIn(body, texts))
      if (type === 'E') waiting.push(...bound.splice(0))
      if (type === 'S' && watching) watching.roundTrips++
    }
    return (write as (...words: unknown[]) => boolean)(sent, ...words)
  }) as typeof stream.write
  connection.on('commandComplete' as never, ({ text }: { text: string }) => {
    const done = waiting.shift()
    if (!done) return
    done.rows = Number(/\d+$/.exec(text)?.[0] ?? 0)
    watching?.ran.push(done)
  })
}

function boundIn(body: Buffer, texts: ReadonlyMap<string, string>): ExecutedStatement {
  const portal = textAt(body, 0)
  const name = textAt(body, portal.length + 1)
  const formats = portal.length + name.length + 2
  const values = body.readInt16BE(formats + 2 + 2 * body.readInt16BE(formats))
  return { text: texts.get(name) ?? name, values, rows: 0, micros: null }
}

/** The messages of PostgreSQL's protocol 3.0 in a buffer. */
function* messagesIn(sent: Buffer): Generator<{ type: string; body: Buffer }> {
  for (let at = 0; at + 5 <= sent.length; ) {
    const end = at + 1 + sent.readInt32BE(at + 1)
    yield { type: String.fromCharCode(sent[at] ?? 0), body: sent.subarray(at + 5, end) }
    at = end
  }
}

function textAt(body: Buffer, from: number): string {
  return body.toString('utf8', from, body.indexOf(0, from))
}
