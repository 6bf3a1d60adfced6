import { setTimeout as delay } from 'node:timers/promises'
import type { Amount } from '../../src/core/money/amount.ts'
import { formatAmount, oneUnit, parseAmount } from '../../src/core/money/amount.ts'
import type { Answer, Request, Target } from './clients.ts'
import { connections, send } from './clients.ts'
import type { Operation } from './linearizability.ts'
import type { OwnWallet } from './wallets.ts'
import { depositTo, payoutFrom, walletByGraphql, walletByRest } from './wallets.ts'

/** The clients, amounts and target of requests; a restarted server changes the target. */
export type Recording = {
  readonly where: () => Promise<Target>
  readonly wallets: readonly OwnWallet[]
  readonly clients: number
  readonly operations: number
  readonly random: () => number
}

/** Requests and responses by wallet; `faults` describe responses that break the promise. */
export type Recorded = {
  readonly histories: ReadonlyMap<OwnWallet, Operation[]>
  readonly faults: string[]
  /** Number of requests, of those without a response, and of rejections for lack of funds. */
  readonly count: { requested: number; unknown: number; refused: number }
}

/** Clients at work: `over` settles after the last request and one more read of each wallet. */
export type RecordingClients = { readonly recorded: Recorded; readonly over: Promise<void> }

/** Runs clients that pay out, deposit and read, each one operation at a time, through both APIs. */
export function startRecording({ where, wallets, clients, operations, random }: Recording): RecordingClients {
  const recorded: Recorded = {
    histories: new Map(wallets.map((wallet) => [wallet, []])),
    faults: [],
    count: { requested: 0, unknown: 0, refused: 0 },
  }
  const agent = connections(clients)
  /** The position of the latest event. */
  let place = 0
  const ask = async (wallet: OwnWallet, asked: OperationKind) => {
    const number = ++recorded.count.requested
    const target = await where()
    const start = ++place
    const response = await send(target, agent, asked.request(wallet, number)).catch(() => null)
    keep(recorded, wallet, { requested: asked, response, start, end: ++place })
    // Backs off after a lost server, instead of sending it thousands of requests before the next one listens.
    if (response === null) await delay(10)
  }
  const client = async () => {
    while (recorded.count.requested < operations) {
      await ask(wallets[Math.floor(random() * wallets.length)] as OwnWallet, randomOperation(random))
    }
  }
  const over = Promise.all(Array.from({ length: clients }, client))
    .then(() => Promise.all(wallets.map((wallet) => ask(wallet, lookByRest))))
    .then(() => agent.destroy())
  return { recorded, over }
}

/** One kind of request: its change of the balance, its body, and how to read the balance from the response. */
type OperationKind = {
  readonly change: Amount
  readonly request: (wallet: OwnWallet, number: number) => Request
  /** The balance, or `undefined` for an invalid response. */
  readonly balanceIn: (response: Answer) => Balance | undefined
}

type Balance = { readonly balance: Amount; readonly isRefusal?: true }

const lookByRest: OperationKind = {
  change: 0n,
  request: walletByRest,
  balanceIn: ({ status, text }) => (status === 200 ? balanceFrom(JSON.parse(text).data.balance) : undefined),
}

const lookByGraphql: OperationKind = {
  change: 0n,
  request: walletByGraphql,
  balanceIn: ({ text }) => balanceFrom(JSON.parse(text).data?.wallet?.balance),
}

/** Payouts exceed deposits, so that some lack funds. */
function randomOperation(random: () => number): OperationKind {
  const chance = random()
  const amount = BigInt(Math.ceil(random() * 50 * Number(oneUnit)))
  if (chance < 0.2) return lookByRest
  if (chance < 0.4) return lookByGraphql
  return chance < 0.6 ? depositOf(amount) : payoutOf(amount, random() < 0.5)
}

function depositOf(amount: Amount): OperationKind {
  return {
    change: amount,
    request: (wallet) => depositTo(wallet, formatAmount(amount)),
    balanceIn: ({ text }) => balanceFrom(JSON.parse(text).data?.simulateDeposit?.wallet?.balance),
  }
}

/** With a key, the processes behind the API retry a request when one of them dies. */
function payoutOf(amount: Amount, hasKey: boolean): OperationKind {
  return {
    change: -amount,
    request: (wallet, number) => payoutFrom(wallet, formatAmount(amount), hasKey ? `payout ${number}` : null),
    balanceIn: ({ status, text }) => {
      const { data, error } = JSON.parse(text)
      if (status === 200) return balanceFrom(data.balance)
      const balance = error?.code === 'INSUFFICIENT_FUNDS' ? balanceFrom(error.details.available) : undefined
      return balance && balance.balance < amount ? { ...balance, isRefusal: true } : undefined
    },
  }
}

function balanceFrom(text: unknown): Balance | undefined {
  const balance = typeof text === 'string' ? parseAmount(text) : null
  return balance === null ? undefined : { balance }
}

type Event = {
  readonly requested: OperationKind
  readonly response: Answer | null
  readonly start: number
  readonly end: number
}

function keep(
  { histories, faults, count }: Recorded,
  wallet: OwnWallet,
  { requested: asked, response, start, end }: Event,
): void {
  const history = histories.get(wallet) as Operation[]
  const { change, balanceIn } = asked
  if (response === null || response.status === 503 || isUnavailable(response)) {
    count.unknown++
    history.push({ start, end: null, change, balance: null })
    return
  }
  const seen = balanceIn(response)
  if (seen === undefined) {
    faults.push(`unexpected response ${response.status}: ${response.text.slice(0, 300)}`)
    return
  }
  const { balance, isRefusal } = seen
  if (isRefusal) count.refused++
  if (isRefusal || change <= 0n) history.push({ start, end, change: isRefusal ? 0n : change, balance })
  else {
    // A deposit's response shows the wallet at some time after the deposit.
    const deposit = { start, end, change, balance: null }
    history.push(deposit, { start, end, change: 0n, balance, follows: deposit })
  }
}

/** In the GraphQL API an unknown outcome is an error alongside the data. */
function isUnavailable({ text }: Answer): boolean {
  return /"code":"UNAVAILABLE"/.test(text)
}
