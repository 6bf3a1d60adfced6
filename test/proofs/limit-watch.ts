import { setTimeout as delay } from 'node:timers/promises'
import { connections, send } from './clients.ts'
import type { Stepping, SteppingOptions } from './stepping-clocks.ts'
import { anyOffset } from './stepping-clocks.ts'
import type { OwnWallet } from './wallets.ts'
import { makeWallets, walletByRest } from './wallets.ts'

/** So low that a client exceeds it on any machine. */
const perSecond = 5
const patienceMs = 10_000

/**
 * Repeatedly sends a server more requests than it allows, and steps its clock whenever it rejects them. The step must
 * neither grant requests that real time has not earned, nor withhold earned ones.
 */
export async function startAskingTooOften(
  url: string,
  { start, random }: { start: (options: SteppingOptions) => Promise<Stepping>; random: () => number },
) {
  const { apiKey, wallets } = await makeWallets(url, { count: 1, balance: '1' })
  const server = await start({ url, rateLimit: perSecond })
  const agent = connections(1)
  const faults: string[] = []
  // Times of each accepted request: it was counted between the two.
  const passes: { from: number; to: number }[] = []
  let isStopped = false
  const isAllowed = async () => {
    const from = performance.now()
    const { status } = await send({ port: server.port, apiKey }, agent, walletByRest(wallets[0] as OwnWallet))
    if (status !== 200 && status !== 429) faults.push(`a request got ${status}`)
    if (status !== 200) return false
    const to = performance.now()
    const earlier = passes[passes.length - perSecond]
    if (earlier && to - earlier.from < 1_000) faults.push(`more than ${perSecond} passed in ${to - earlier.from} ms`)
    passes.push({ from, to })
    return true
  }
  let steps = 0
  // A slow machine may reach the limit only when no other client sends requests any more.
  const isOver = () => isStopped && steps > 0
  const work = async () => {
    for (; !isOver(); steps++) {
      let emptyAt = performance.now()
      while (!isOver() && (await isAllowed())) emptyAt = performance.now()
      if (isOver()) return
      server.setOffset(anyOffset(random))
      let passed = 0
      for (let i = 0; i < perSecond; i++) if (await isAllowed()) passed++
      while (passed === 0 && faults.length === 0) {
        if (performance.now() - emptyAt > patienceMs) faults.push('after a step, the limit let no request pass')
        await delay(20)
        if (await isAllowed()) passed++
      }
    }
  }
  const over = work()
  const stop = async () => {
    isStopped = true
    await over
    await server.end()
    agent.destroy()
    return faults
  }
  return { stop }
}
