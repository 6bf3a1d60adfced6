import { DomainError } from '../../core/errors.ts'
import type { Amount } from '../../core/money/amount.ts'
import { addConnection } from '../../graphql/schema/connection-fields.ts'
import { addQuery, exposeColumn, exposeNullableColumn, nullableQueryField, objectType, relationField } from '../../graphql/schema/fields.ts'
import { optional, requiredId } from '../../graphql/schema/inputs.ts'
import type { SequenceSpan } from '../../lists/time-range.ts'
import type { Context } from '../../operations/context.ts'
import { LedgerEntry } from '../ledger/graphql.ts'
import { entries } from '../ledger/list.ts'
import { Wallet } from '../wallets/graphql.ts'
import { findStatement } from './wallet-statement.ts'

/** A statement by what its lines are found with: its wallet and its period. */
type StatementRow = {
  readonly id: string
  readonly walletId: string
  readonly from: string | null
  readonly to: string
  readonly isFinal: boolean
  readonly openingBalance: Amount
  readonly closingBalance: Amount
  readonly lineCount: number
}

const Statement = objectType<StatementRow>('Statement', {
  description:
    "A wallet's statement: what it held before a period and after it, and every movement of its money in between, which leads from the one to the other.",
  fields: {
    wallet: relationField(Wallet, 'walletId', 'The wallet whose statement it is.'),
    from: exposeNullableColumn('from', 'The moment from which on it tells; null for the beginning.', 'DateTime'),
    to: exposeColumn('to', 'The moment before which it tells.', 'DateTime'),
    isFinal: exposeColumn(
      'isFinal',
      'Whether nothing more can come to be in it: its end is a minute ago or longer.',
      'Boolean',
    ),
    openingBalance: exposeColumn('openingBalance', 'What the wallet held before its first line.', 'Amount'),
    closingBalance: exposeColumn('closingBalance', 'What the wallet held after its last line.', 'Amount'),
    lineCount: exposeColumn('lineCount', 'How many lines there are.', 'Int'),
  },
})

/** The lines of statements, each by its key. */
const statementLines = {
  ...entries,
  slicesOf: () => async (context: Context, keys: readonly string[], input: object, columns?: undefined) =>
    new Map(
      await Promise.all(
        keys.map(async (key) => [key, await statementSlice(context, JSON.parse(key), { input, columns })] as const),
      ),
    ),
}

/** What the lines of a statement are found by. */
type StatementKey = {
  readonly walletId: string
  readonly from: string | null
  /** `null` where the caller names no end: each request ends at its own moment, and all have the cursors of one list. */
  readonly to: string | null
  /** The numbers of its lines, both exclusive. */
  readonly known: SequenceSpan
}

function statementSlice(
  context: Context,
  { walletId, from, to, known }: StatementKey,
  { input, columns }: { readonly input: object; readonly columns: undefined },
) {
  return entries.sliceWithin(context, known, { ...input, walletId, createdFrom: from, createdBefore: to }, columns)
}

addConnection('lines', statementLines as unknown as typeof entries, {
  of: LedgerEntry,
  items: "lines of a wallet's statement",
  places: [{ on: Statement, parent: 'wallet', summary: 'Every movement of its money in the period', filter: null }],
})

addQuery(
  'statement',
  nullableQueryField(
    Statement,
    'The statement of a wallet for a period; null when the wallet does not exist or is not visible.',
    {
      walletId: requiredId('Wallet', 'wallet'),
      from: optional('From this moment on; without it, from the beginning.', 'DateTime'),
      to: optional('Before this moment; without it, until now.', 'DateTime'),
    },
    async (context, { walletId, from, to }) => {
      const found = await findStatement(context, { walletId, from, to }).catch(nullIfNotFound)
      if (found === null) return null
      const { period, opening, closing } = found
      return {
        id: JSON.stringify({
          walletId: found.walletId,
          from: period.from,
          to: to ? period.to : null,
          known: { above: opening.sequence, below: closing.sequence + 1 },
        } satisfies StatementKey),
        walletId: found.walletId,
        ...period,
        openingBalance: opening.balance,
        closingBalance: closing.balance,
        lineCount: closing.sequence - opening.sequence,
      }
    },
  ),
)

function nullIfNotFound(error: unknown): null {
  if (error instanceof DomainError && error.code === 'RESOURCE_NOT_FOUND') return null
  throw error
}
