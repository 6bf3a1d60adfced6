import { setTimeout as delay } from 'node:timers/promises'
import type { AdverseReceivers } from './adverse-receivers.ts'
import type { AdverseWorld, Merchant } from './adverse-world.ts'

/** An event that has not arrived after this time is lost. */
const giveUpMs = 30_000

/** How long an event took to arrive, and how long the machine was idle meanwhile, in milliseconds. */
export type Delay = { readonly ms: number; readonly stillMs: number }

/**
 * Repeatedly changes objects of merchants with working receivers, each after the previous event arrived; returns the
 * delays.
 */
export function startWell(world: AdverseWorld, { receipts }: AdverseReceivers, merchants: readonly Merchant[]) {
  let isOver = false
  const delays: Delay[] = []
  const stills: { readonly at: number; readonly ms: number }[] = []
  const watch = async (merchant: Merchant) => {
    const path = merchant.endpoints[0]?.path
    while (!isOver) {
      const sequence = await world.happen(merchant)
      const happenedAt = performance.now()
      const arrived = () => receipts().find((each) => each.path === path && each.sequence === sequence)
      while (arrived() === undefined && performance.now() - happenedAt < giveUpMs) await delay(5)
      const ms = (arrived()?.at ?? performance.now()) - happenedAt
      delays.push({ ms, stillMs: Math.max(0, ...stills.filter(({ at }) => at > happenedAt).map(({ ms }) => ms)) })
      await delay(100)
    }
  }
  /** Whether this shared machine makes progress: a stalled machine delays every event. */
  const watchMachine = async () => {
    while (!isOver) {
      const begunAt = performance.now()
      await delay(10)
      await world.ping()
      const at = performance.now()
      stills.push({ at, ms: at - begunAt - 10 })
    }
  }
  const over = Promise.all([...merchants.map(watch), watchMachine()])
  return {
    /** Waits until each receiver has responded: before that its endpoint counts as unhealthy. */
    areSeen: async () => {
      while (delays.length < 2 * merchants.length) await delay(10)
      delays.length = 0
    },
    stop: async () => {
      isOver = true
      await over
      return delays
    },
  }
}
