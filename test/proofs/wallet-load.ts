import type { Answer, Target } from './clients.ts'
import { connections, send } from './clients.ts'
import type { OwnWallet } from './wallets.ts'
import { depositTo, payoutFrom, settle } from './wallets.ts'

/** A payout, with the positions of its request and response in the sequence of all events. */
export type Paid = { readonly id: string; readonly createdAt: string; readonly start: number; readonly end: number }

/** The clients' work so far; `faults` describe responses that break the promise. */
export type Done = {
  /** In the order of their responses. */
  readonly paid: Paid[]
  /** Number of rejections for lack of funds or for a payout that is already settled. */
  refused: number
  deposits: number
  settled: number
  /** The position of the latest event. */
  place: number
  readonly faults: string[]
}

/** Clients at work. */
export type Load = { readonly done: Done; readonly stop: () => Promise<void> }

/** Runs clients that pay out, deposit and settle repeatedly, each one operation at a time, through both APIs. */
export function startLoad(
  target: Target,
  { wallets, clients, random }: { wallets: readonly OwnWallet[]; clients: number; random: () => number },
): Load {
  const done: Done = { paid: [], refused: 0, deposits: 0, settled: 0, place: 0, faults: [] }
  const agent = connections(clients)
  let isStopped = false
  const client = async () => {
    while (!isStopped) await doSomething((request) => send(target, agent, request), { done, wallets, random })
  }
  const over = Promise.all(Array.from({ length: clients }, client)).then(() => agent.destroy())
  const stop = () => {
    isStopped = true
    return over
  }
  return { done, stop }
}

type Ask = (request: Parameters<typeof send>[2]) => Promise<Answer>

async function doSomething(
  ask: Ask,
  { done, wallets, random }: { done: Done; wallets: readonly OwnWallet[]; random: () => number },
): Promise<void> {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
  const wallet = pick(wallets)
  const amount = (0.01 + random() * 20).toFixed(8)
  const chance = random()
  if (chance < 0.5 || done.paid.length === 0) {
    const start = ++done.place
    const response = await ask(payoutFrom(wallet, amount))
    const { data, error } = JSON.parse(response.text)
    if (response.status !== 200) keepOther(done, response, error?.code)
    else done.paid.push({ id: data.id, createdAt: data.created_at, start, end: ++done.place })
  } else if (chance < 0.7) {
    const response = await ask(depositTo(wallet, amount))
    if (JSON.parse(response.text).data?.simulateDeposit?.wallet) done.deposits++
    else keepOther(done, response, undefined)
  } else {
    const status = pick(['COMPLETED', 'COMPLETED', 'FAILED', 'RETURNED'] as const)
    const response = await ask(settle(pick(done.paid.slice(-200)).id, status))
    const { payout, code } = JSON.parse(response.text).data?.simulatePayout ?? {}
    if (payout) done.settled++
    else keepOther(done, response, code)
  }
}

function keepOther(done: Done, { status, text }: Answer, code: unknown): void {
  if (code === 'INSUFFICIENT_FUNDS' || code === 'PAYOUT_STATUS_CONFLICT') done.refused++
  else done.faults.push(`unexpected response ${status}: ${text.slice(0, 300)}`)
}
