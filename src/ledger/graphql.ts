import { builder } from '../graphql/builder.ts'
import { valuesEnum } from '../graphql/enums.ts'
import { filterType } from '../graphql/list-fields.ts'
import { loaderOf } from '../graphql/loader.ts'
import { addNodeTypeWith, Node, nodeId } from '../graphql/node.ts'
import type { Entry } from './entry.ts'
import { entryDirections, transferKinds } from './entry.ts'
import { findEntries } from './find-entries.ts'
import { entries } from './list.ts'

export const EntryDirectionEnum = valuesEnum(
  'EntryDirection',
  entryDirections,
  'Which way money went, seen from the wallet.',
)

export const TransferKindEnum = valuesEnum('TransferKind', transferKinds, 'Why money moved.')

export const LedgerEntry = builder.objectRef<Entry>('LedgerEntry').implement({
  description:
    "A line of a wallet's statement: how much moved, why, and what the wallet held after it. Lines are never changed or removed.",
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('LedgerEntry', entryKey)),
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

const entryLoader = loaderOf<Entry | null>(async (context, keys) => {
  const found = await findEntries(context, keys.map(parseEntryKey))
  const entries = new Map(found.map((entry) => [entryKey(entry), entry]))
  return (key) => entries.get(key) ?? null
})

addNodeTypeWith('LedgerEntry', (context, id) => {
  const key = id.toLowerCase()
  return /^[0-9a-f-]{36}:[1-9]\d{0,3}$/.test(key) ? entryLoader(context).load(key) : null
})

/** What tells an entry from all others: its place in its transfer. */
function entryKey({ transferId, line }: Pick<Entry, 'transferId' | 'line'>): string {
  return `${transferId}:${line}`
}

function parseEntryKey(key: string): Pick<Entry, 'transferId' | 'line'> {
  const [transferId = '', line] = key.split(':')
  return { transferId, line: Number(line) }
}

export const LedgerEntryFilter = filterType('LedgerEntryFilter', entries, {
  description: 'Which lines of a statement: those that every field here lets through.',
  known: ['walletId'],
})
