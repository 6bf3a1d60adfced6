import { z } from 'zod'
import { timestamp } from '../../../core/ids.ts'
import { identifier, oneOf, optional, parse, positiveAmount, text } from '../../../core/input.ts'
import { formatAmount } from '../../../core/money/amount.ts'
import type { Service } from '../../../operations/context.ts'
import { corridorTo, localRailTo, recipientCurrencies } from '../../payouts/payout.ts'
import { newSharedSecret, signerOf } from '../../webhooks/transport/signing-secrets.ts'
import type { Seen } from './bank-response.ts'
import { continues, isState, sayingOf, told } from './bank-response.ts'
import type { BankCall } from './http-client.ts'
import { bankAt, messageId } from './http-client.ts'
import type { HttpRailAt } from './http-rail.ts'
import { bankLimits } from './http-rail.ts'
import type { Order } from './rail.ts'
import { orderBody } from './wire-format.ts'

export const CheckRailInput = z.object({
  accountNumber: identifier(),
  bankCode: identifier(),
  bankName: text(),
  recipientName: text(),
  amount: optional(positiveAmount()),
  currency: optional(oneOf(recipientCurrencies)),
})
type Account = z.output<typeof CheckRailInput>

/** What became of one rule. */
export type Checked = { readonly rule: string; readonly result: 'pass' | 'FAIL'; readonly seen: string }

/** A rule in words, and whether a bank keeps it, by what was seen. */
type Rule = readonly [rule: string, look: (bank: CheckedBank) => Promise<readonly [isKept: boolean, seen: string]>]

/** Requests that are made at once of one order. */
const atOnce = 8

/** Older than a bank may take. */
const tooOldMs = 600_000

/**
 * Tries at a bank every rule that it must keep (docs/guides/rails.md), with a few orders to an account of whoever asks.
 *
 * Reports are not tried: the service takes them where it runs.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function checkRail(
  service: Service,
  at: HttpRailAt,
  input: z.input<typeof CheckRailInput>,
): Promise<readonly Checked[]> {
  const bank = checkedBank(service, at, parse(CheckRailInput, input))
  const checked: Checked[] = []
  try {
    // One after the other: what a rule sees is of the orders of those before.
    for (const [rule, look] of rules) {
      const [isKept, seen] = await look(bank)
      checked.push({ rule, result: isKept ? 'pass' : 'FAIL', seen })
    }
  } finally {
    bank.close()
  }
  return checked
}

type CheckedBank = ReturnType<typeof checkedBank>

/** A bank with the orders that are tried. */
function checkedBank(service: Service, { url, secrets }: HttpRailAt, account: Account) {
  const signer = signerOf(secrets)
  const { call, close } = bankAt({ url, signer, wallClock: service.wallClock, limits: bankLimits })
  const newOrder = () => orderTo(service, account)
  const ask = async (order: Order, change: Omit<BankCall, 'orderId'>): Promise<Seen> => {
    const body = change.question === 'submit' ? { body: orderBody(order) } : {}
    return sayingOf(order.id, await call({ orderId: order.id, ...body, ...change }))
  }
  return {
    first: newOrder(),
    second: newOrder(),
    cancelled: newOrder(),
    forged: newOrder(),
    never: newOrder(),
    /** What was said first of each order that was taken. */
    sayings: new Map<Order, Seen>(),
    submit: (order: Order) => ask(order, { question: 'submit' }),
    find: (order: Order) => ask(order, { question: 'find' }),
    cancel: (order: Order) => ask(order, { question: 'cancel' }),
    ask,
    close,
  }
}

function orderTo(service: Service, { amount, currency: asked, ...recipient }: Account): Order {
  const id = service.newId()
  const { recipientName: name, accountNumber, bankName, bankCode } = recipient
  const now = service.now()
  const currency = asked ?? 'NGN'
  return {
    id,
    transactionId: id.slice(-8).toUpperCase(),
    amount: amount === null ? '1.00000000' : formatAmount(amount),
    currency,
    country: corridorTo(currency)?.recipientCountry ?? '',
    transferType: localRailTo(currency),
    recipient: { name, accountNumber, bankName, bankCode },
    purpose: 'GIFTS',
    narration: 'rail check',
    createdAt: timestamp(now),
    submittedAt: timestamp(now),
    attempts: 1,
    now,
  }
}

const rules: readonly Rule[] = [
  [
    'an order is answered with a state',
    async ({ first, submit, sayings }) => {
      const seen = await submit(first)
      sayings.set(first, seen)
      return [isState(seen), told(seen)]
    },
  ],
  [
    'the same order again is the same order, and not another',
    async ({ first, submit, sayings }) => {
      const seen = await submit(first)
      return [continues(sayings.get(first), seen), told(seen)]
    },
  ],
  [
    'its id with another amount is refused, or answered with what became of the first',
    async ({ first, submit, sayings }) => {
      const seen = await submit({ ...first, amount: `1${first.amount}` })
      return [isRefused(seen) || continues(sayings.get(first), seen), told(seen)]
    },
  ],
  [
    `one order submitted ${atOnce} times at once is one order`,
    async ({ second, submit, find, sayings }) => {
      const seen = await Promise.all(Array.from({ length: atOnce }, () => submit(second)))
      const latest = await find(second)
      const states = seen.filter(isState)
      sayings.set(second, latest)
      // Whoever comes meanwhile may be told to come again.
      return [
        states.length > 0 && states.every((each) => continues(each, latest)),
        [...new Set(seen.map(told)), told(latest)].join('; '),
      ]
    },
  ],
  [
    'an order is found',
    async ({ first, find, sayings }) => {
      const seen = await find(first)
      return [continues(sayings.get(first), seen), told(seen)]
    },
  ],
  [
    'each answer has the id of its order',
    async ({ first, submit, find }) => {
      const seen = [await submit(first), await find(first)]
      return [seen.every(({ isNamed, status }) => isNamed || status === notThere), seen.map(told).join('; ')]
    },
  ],
  [
    'each order is answered with its own reference',
    async ({ first, second, find }) => {
      const [one, other] = [await find(first), await find(second)]
      const areOwn = one.report?.reference == null || one.report.reference !== other.report?.reference
      return [isState(one) && isState(other) && areOwn, `${told(one)}; ${told(other)}`]
    },
  ],
  [
    'an id that was never submitted is not found: 404',
    async ({ never, find }) => {
      const seen = await find(never)
      return [seen.status === notThere, told(seen)]
    },
  ],
  [
    'what is no order is refused',
    async ({ never, ask }) => {
      const seen = await ask(never, { question: 'submit', body: '{"id":' })
      return [isRefused(seen), told(seen)]
    },
  ],
  ...(['submit', 'find', 'cancel'] as const).map(
    (question): Rule => [
      `${question}: what is not signed, or wrongly, long ago or for something else is refused: 401`,
      async ({ forged, first, never, ask }) => {
        // What is looked for is there: else 404 would look like a refusal.
        const order = { submit: forged, find: first, cancel: first }[question]
        const seen = await Promise.all([
          ask(order, { question, headers: unsigned }),
          ask(order, { question, signedBy: signerOf([newSharedSecret()]) }),
          ask(order, { question, ageMs: tooOldMs }),
          ask(order, { question, ageMs: -tooOldMs }),
          ask(order, {
            question,
            signedAs: messageId(({ submit: 'find', find: 'cancel', cancel: 'find' } as const)[question], order.id),
          }),
          ask(order, { question, signedAs: messageId(question, never.id) }),
        ])
        const ways = ['not signed', 'wrongly', 'long ago', 'to come', 'for something else', 'for another order']
        return [
          seen.every(({ status }) => status === unauthorized),
          seen.map((each, place) => `${ways[place]}: ${told(each)}`).join('; '),
        ]
      },
    ],
  ),
  [
    'an order whose signature is refused is not taken',
    async ({ forged, find }) => {
      const seen = await find(forged)
      return [seen.status === notThere, told(seen)]
    },
  ],
  [
    'one signature of several that is right is enough',
    async ({ first, ask }) => {
      const headers = (signed: Readonly<Record<string, string>>) => {
        const other = `v1,${Buffer.alloc(32).toString('base64')}`
        return { ...signed, 'webhook-signature': `${other} ${signed['webhook-signature']}` }
      }
      const seen = await ask(first, { question: 'find', headers })
      return [isState(seen), told(seen)]
    },
  ],
  [
    'an id that was never submitted can not be cancelled: 404',
    async ({ never, cancel }) => {
      const seen = await cancel(never)
      return [seen.status === notThere, told(seen)]
    },
  ],
  [
    'an order is cancelled, and is rejected from then on, or it is too late',
    async ({ cancelled, submit, cancel, find, sayings }) => {
      const taken = await submit(cancelled)
      const answer = await cancel(cancelled)
      const [found, again] = [await find(cancelled), await submit(cancelled)]
      sayings.set(cancelled, found)
      const isOver = [found, again].every(({ report }) => report?.state === 'REJECTED')
      const isAsItWas = continues(taken, found) && continues(found, again)
      return [
        isState(taken) && answer.cancelling !== null && { CANCELLED: isOver, TOO_LATE: isAsItWas }[answer.cancelling],
        [taken, answer, found, again].map(told).join('; '),
      ]
    },
  ],
  [
    'no order that was taken is lost, or goes back',
    async ({ sayings, find }) => {
      const seen = await Promise.all([...sayings].map(async ([order, before]) => ({ before, now: await find(order) })))
      return [seen.every(({ before, now }) => continues(before, now)), seen.map(({ now }) => told(now)).join('; ')]
    },
  ],
]

// What a bank answers with (RFC 9110).
const [badRequest, unauthorized, notThere, tooMany, ours] = [400, 401, 404, 429, 500] as const

/** Whether a request is refused for good, and nothing is said of an order. */
function isRefused(seen: Seen): boolean {
  const { status } = seen
  return status !== null && status >= badRequest && status < ours && status !== tooMany && !isState(seen)
}

function unsigned(signed: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(signed).filter(([name]) => !name.startsWith('webhook-')))
}
