import { builder } from '../graphql/builder.ts'
import { createdFilter } from '../graphql/filters.ts'
import { addNodeTypeWith, Node, nodeId } from '../graphql/node.ts'
import { findEntries } from './browse-entries.ts'
import type { Entry } from './entry.ts'

export const EntryDirectionEnum = builder.enumType('EntryDirection', {
  description: 'Which way money went, seen from the wallet.',
  values: {
    DEBIT: { value: 'debit', description: 'Money left the wallet.' },
    CREDIT: { value: 'credit', description: 'Money came into the wallet.' },
  } as const,
})

export const TransferKindEnum = builder.enumType('TransferKind', {
  description: 'Why money moved.',
  values: {
    DEPOSIT: { value: 'deposit', description: 'It arrived from outside.' },
    PAYOUT: { value: 'payout', description: 'A payout took amount and fee.' },
    PAYOUT_COMPLETED: { value: 'payout_completed', description: 'The bank paid a payout; no wallet changes by it.' },
    PAYOUT_FAILED: { value: 'payout_failed', description: 'A payout failed, and amount and fee came back.' },
    PAYOUT_RETURNED: {
      value: 'payout_returned',
      description: 'The bank sent a payout back, and amount and fee came back.',
    },
  } as const,
})

export const LedgerEntry = builder.objectRef<Entry>('LedgerEntry').implement({
  description:
    "A line of a wallet's statement: how much moved, why, and what the wallet held after it. Lines are never changed or removed.",
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('LedgerEntry', ({ transferId, line }) => `${transferId}:${line}`)),
    sequence: t.exposeInt('sequence', { description: 'Its number in the statement, from 1 without gaps.' }),
    direction: t.expose('direction', { type: EntryDirectionEnum, description: 'Whether money left or came in.' }),
    amount: t.expose('amount', { type: 'Amount', description: 'How much, above zero.' }),
    balanceAfter: t.expose('balanceAfter', { type: 'Amount', description: 'What the wallet held after it.' }),
    kind: t.expose('kind', { type: TransferKindEnum, description: 'Why the money moved.' }),
    currency: t.exposeString('assetCode', { description: 'The code of the asset, which is that of the wallet.' }),
    transferId: t.expose('transferId', {
      type: 'UUID',
      description: 'The ledger transfer that it belongs to; its other side is outside the wallets.',
    }),
    reference: t.exposeString('reference', {
      nullable: true,
      description: 'The reference of the deposit that it comes from; null for anything else.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the money moved.' }),
  }),
})

addNodeTypeWith('LedgerEntry', async (context, id) => {
  const [, transferId, line] = /^([0-9a-f-]{36}):([1-9]\d{0,3})$/.exec(id) ?? []
  if (transferId === undefined) return null
  const [entry = null] = await findEntries(context, [{ transferId, line: Number(line) }])
  return entry
})

export const LedgerEntryFilter = builder.inputType('LedgerEntryFilter', {
  description: 'Which lines of a statement: those that every field here lets through.',
  fields: (t) => ({
    direction: t.field({ type: EntryDirectionEnum, description: 'Only money that left, or that came in.' }),
    kind: t.field({ type: TransferKindEnum, description: 'Only money that moved for this reason.' }),
    ...createdFilter(t),
  }),
})
