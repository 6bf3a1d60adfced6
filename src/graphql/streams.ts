import type { FastifyInstance, FastifyReply } from 'fastify'
import { Refusal } from '../errors.ts'

/** Answers that one merchant may hold open at once. */
export const streamsPerMerchant = 100

/** Counts an answer that stays open, until it ends. */
export type HoldStream = (merchantId: string, reply: FastifyReply) => void

/**
 * Keeps count of the answers that stay open, so that no merchant takes the sockets of all others, and ends them when the
 * service does: nobody else would.
 *
 * @param most streams of one merchant in this process
 * @throws Refusal RATE_LIMITED when the merchant has as many open as it may
 */
export function countStreams(app: FastifyInstance, most: number): HoldStream {
  const open = new Map<string, Set<FastifyReply>>()
  app.addHook('preClose', async () => {
    for (const replies of open.values()) for (const { raw } of replies) raw.destroy()
  })
  return (merchantId, reply) => {
    const replies = open.get(merchantId) ?? new Set()
    if (replies.size >= most) {
      throw new Refusal('RATE_LIMITED', `At most ${most} streams may be open at once.`)
    }
    open.set(merchantId, replies.add(reply))
    reply.raw.once('close', () => {
      replies.delete(reply)
      if (replies.size === 0) open.delete(merchantId)
    })
  }
}
