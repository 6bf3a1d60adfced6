import { createOwnerContext } from '../modules/operators/owner-context.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { findRailOrders } from '../modules/payouts/payout-timeline.ts'
import type { AttentionAction } from '../modules/rails/attention/attention-actions.ts'
import { listAllAttention } from '../modules/rails/attention/list-attention.ts'
import { resolveAttentionByOperator } from '../modules/rails/attention/resolve-attention.ts'
import { cancelPayout } from '../modules/rails/orders/cancel-payout.ts'
import type { Service } from '../operations/context.ts'
import type { Command, CommandSyntax, LoggedChange, OptionValues } from './command.ts'
import { subjectFromFirstWord, wordAt } from './command.ts'
import { sliceOptions } from './list-commands.ts'

const words = ['payout id']
const required: CommandSyntax['required'] = { reason: ['text', 'why, for the operator log'] }
const changes: LoggedChange = { ...subjectFromFirstWord, movesMoney: true }

/** What people do about payouts on rails. */
export const attentionCommands: Readonly<Record<string, Command>> = {
  'payout cancel': {
    changes,
    summary:
      'Cancel a payout. Cancels immediately if the bank has not received it, and asks the bank otherwise. Repeating it changes nothing.',
    words,
    run: async (service, words) => {
      const payoutId = wordAt(words, 0)
      const context = await createOwnerContext(service, 'payout', payoutId)
      return payoutWithRailOrder(service, (await cancelPayout(context, { payoutId })).result)
    },
  },
  'attention list': {
    changes: 'nothing',
    summary: 'List the payouts that need attention, oldest first. Includes what can be done about each.',
    options: sliceOptions,
    columns: {
      payoutId: { header: 'payout', priority: 1 },
      payoutStatus: { header: 'status', priority: 3 },
      since: { priority: 4 },
      cause: { priority: 2, isWrapped: true },
      actions: { priority: 5 },
    },
    run: async (service, _, { limit, after }) => {
      const { items, after: next } = await listAllAttention(service, { limit, after })
      return { payouts: items.map(({ actions, ...item }) => ({ ...item, actions: actions.map(commandSuffix) })), next }
    },
  },
  'attention retry': {
    changes,
    summary: 'Ask the bank again for the outcome of a payout. Submits it again only where that can not pay twice.',
    words,
    required,
    run: (service, words, options) => resolveByOperator(service, 'RETRY', words, options),
  },
  'attention complete': {
    changes,
    summary: 'Mark a payout as paid.',
    words,
    required,
    run: (service, words, options) => resolveByOperator(service, 'COMPLETE', words, options),
  },
  'attention fail': {
    changes,
    summary: 'Mark a payout as not paid, or as returned. The money goes back to the wallet.',
    words,
    required,
    run: (service, words, options) => resolveByOperator(service, 'FAIL', words, options),
  },
}

async function resolveByOperator(
  service: Service,
  action: AttentionAction,
  words: readonly string[],
  { reason = '' }: OptionValues,
): Promise<object> {
  const payoutId = wordAt(words, 0)
  const context = await createOwnerContext(service, 'payout', payoutId)
  return payoutWithRailOrder(service, (await resolveAttentionByOperator(context, { payoutId, action, reason })).result)
}

/** A payout with how far it is on its rail. */
async function payoutWithRailOrder({ db }: Service, { merchantId, id, referenceId, status, updatedAt }: Payout) {
  const transfer = (await findRailOrders({ db, merchantId }, [referenceId])).get(referenceId)
  const { rail = null, state = null, cancelAskedAt = null } = transfer ?? {}
  return { id, status, rail, state, cancelAskedAt, updatedAt }
}

function commandSuffix(action: AttentionAction): string {
  return action.toLowerCase()
}
