import { DomainError } from '../../core/errors.ts'
import type { Amount } from '../../core/money/amount.ts'
import { addConnection } from '../../graphql/schema/connection-fields.ts'
import {
  addQuery,
  exposeColumn,
  exposeNullableColumn,
  nullableQueryField,
  objectType,
  relationField,
} from '../../graphql/schema/fields.ts'
import { optional, requiredId } from '../../graphql/schema/inputs.ts'
import type { SequenceSpan } from '../../lists/time-range.ts'
import type { Context } from '../../operations/context.ts'
import { LedgerEntry } from '../ledger/graphql.ts'
import { entries } from '../ledger/list.ts'
import { Wallet } from '../wallets/graphql.ts'
import { findStatement } from './wallet-statement.ts'

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
    'The statement of a wallet for a period: opening and closing balance, and every movement of money in between.',
  fields: {
    wallet: relationField(Wallet, 'walletId', 'The wallet of the statement.'),
    from: exposeNullableColumn(
      'from',
      'The beginning of the period, inclusive; null for the beginning of the wallet.',
      'DateTime',
    ),
    to: exposeColumn('to', 'The end of the period, exclusive.', 'DateTime'),
    isFinal: exposeColumn(
      'isFinal',
      'Whether the statement is final, because the period ended at least a minute ago.',
      'Boolean',
    ),
    openingBalance: exposeColumn('openingBalance', 'The balance before the first line.', 'Amount'),
    closingBalance: exposeColumn('closingBalance', 'The balance after the last line.', 'Amount'),
    lineCount: exposeColumn('lineCount', 'The number of lines.', 'Int'),
  },
})

const statementLines = {
  ...entries,
  slicesOf: () => async (context: Context, keys: readonly string[], input: object, columns?: undefined) =>
    new Map(
      await Promise.all(
        keys.map(async (key) => [key, await statementSlice(context, JSON.parse(key), { input, columns })] as const),
      ),
    ),
}

type StatementKey = {
  readonly walletId: string
  readonly from: string | null
  /**
   * `to` is `null` if the request has no `to`. The key must not contain the current time, because the key must be the
   * same for all pages.
   */
  readonly to: string | null
  /** Both ends are exclusive. */
  readonly span: SequenceSpan
}

function statementSlice(
  context: Context,
  { walletId, from, to, span }: StatementKey,
  { input, columns }: { readonly input: object; readonly columns: undefined },
) {
  return entries.sliceWithin(context, span, { ...input, walletId, createdFrom: from, createdBefore: to }, columns)
}

addConnection('lines', statementLines as unknown as typeof entries, {
  of: LedgerEntry,
  items: "lines of a wallet's statement",
  places: [{ on: Statement, parent: 'wallet', summary: 'Every movement of money in the period', filter: null }],
})

addQuery(
  'statement',
  nullableQueryField(
    Statement,
    'The statement of a wallet for a period; null if the wallet does not exist or is not visible.',
    {
      walletId: requiredId('Wallet', 'wallet'),
      from: optional('The beginning of the period, inclusive; absent for the beginning of the wallet.', 'DateTime'),
      to: optional('The end of the period, exclusive; absent for the current time.', 'DateTime'),
    },
    async (context, { walletId, from, to }) => {
      const statement = await findStatement(context, { walletId, from, to }).catch(nullIfNotFound)
      if (statement === null) return null
      const { period, opening, closing } = statement
      return {
        id: JSON.stringify({
          walletId: statement.walletId,
          from: period.from,
          to: to ? period.to : null,
          span: { above: opening.sequence, below: closing.sequence + 1 },
        } satisfies StatementKey),
        walletId: statement.walletId,
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
