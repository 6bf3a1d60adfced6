import type { Service } from '../../context.ts'
import { contextOf } from '../../operators/owner-of.ts'
import type { Payout } from '../../payouts/payout.ts'
import { findTransfers } from '../../payouts/payout-timeline.ts'
import type { AttentionAction } from '../../rails/attention-actions.ts'
import { cancelPayout } from '../../rails/cancel-payout.ts'
import { listAllAttention } from '../../rails/list-attention.ts'
import { resolveAttentionByOperator } from '../../rails/resolve-attention.ts'
import type { Change, Command, Options } from './command.ts'
import { toFirstWord, word } from './command.ts'

const words = ['payout id']
const required = { reason: 'text' }
const changes: Change = { ...toFirstWord, movesMoney: true }

/** What people do about payouts on rails. */
export const attentionCommands: Readonly<Record<string, Command>> = {
  'payout cancel': {
    changes,
    summary:
      'Takes back a payout: at once where its bank was not asked yet, else the bank is asked to. Told again, it changes nothing.',
    words,
    run: async (service, words) => {
      const payoutId = word(words, 0)
      const context = await contextOf(service, 'payout', payoutId)
      return told(service, (await cancelPayout(context, { payoutId })).result)
    },
  },
  'attention list': {
    changes: 'nothing',
    summary: 'Lists the payouts of all merchants that a person must look at, the oldest first, with what can be done.',
    options: { limit: 'number', after: 'cursor' },
    run: async (service, _, { limit, after }) => {
      const { items, after: next } = await listAllAttention(service, { limit, after })
      return { payouts: items.map(({ actions, ...item }) => ({ ...item, actions: actions.map(lowerCase) })), next }
    },
  },
  'attention retry': {
    changes,
    summary:
      'Has the bank asked again what became of a payout; it is submitted again only where that can not pay twice.',
    words,
    required,
    run: (service, words, options) => resolve(service, 'RETRY', words, options),
  },
  'attention complete': {
    changes,
    summary: 'Says of a payout that it was paid.',
    words,
    required,
    run: (service, words, options) => resolve(service, 'COMPLETE', words, options),
  },
  'attention fail': {
    changes,
    summary: 'Says of a payout that it was not paid, or that the money came back: it is in the wallet afterwards.',
    words,
    required,
    run: (service, words, options) => resolve(service, 'FAIL', words, options),
  },
}

async function resolve(
  service: Service,
  action: AttentionAction,
  words: readonly string[],
  { reason = '' }: Options,
): Promise<object> {
  const payoutId = word(words, 0)
  const context = await contextOf(service, 'payout', payoutId)
  return told(service, (await resolveAttentionByOperator(context, { payoutId, action, reason })).result)
}

/** A payout with how far it is on its rail. */
async function told({ db }: Service, { merchantId, id, referenceId, status, updatedAt }: Payout) {
  const transfer = (await findTransfers({ db, merchantId }, [referenceId])).get(referenceId)
  const { rail = null, state = null, cancelAskedAt = null } = transfer ?? {}
  return { id, status, rail, state, cancelAskedAt, updatedAt }
}

function lowerCase(action: AttentionAction): string {
  return action.toLowerCase()
}
