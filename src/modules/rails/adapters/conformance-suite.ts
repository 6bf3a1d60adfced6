import { z } from 'zod'
import { timestamp } from '../../../core/ids-and-clock.ts'
import { identifier, oneOf, optional, parseInput, positiveAmount, text } from '../../../core/input.ts'
import { formatAmount } from '../../../core/money/amount.ts'
import type { Service } from '../../../operations/context.ts'
import { corridorTo, localTransferTypeFor, recipientCurrencies } from '../../payouts/payout.ts'
import { generateSharedSecret, parseSigner } from '../../webhooks/transport/signing-secrets.ts'
import type { BankResponse } from './bank-response.ts'
import { hasValidState, isConsistentWith, parseBankResponse, summarizeResponse } from './bank-response.ts'
import type { BankRequest, HttpRailConfig } from './http-rail.ts'
import { bankLimits, createBankClient, messageId } from './http-rail.ts'
import type { PaymentInstruction } from './rail.ts'
import { encodePaymentInstruction } from './wire-format.ts'

export const CheckRailInput = z.object({
  accountNumber: identifier(),
  bankCode: identifier(),
  bankName: text(),
  recipientName: text(),
  amount: optional(positiveAmount()),
  currency: optional(oneOf(recipientCurrencies)),
})
type TestAccount = z.output<typeof CheckRailInput>

/** What became of one rule. */
export type RuleResult = { readonly rule: string; readonly result: 'pass' | 'FAIL'; readonly seen: string }

/** A rule in words, and whether a bank keeps it, by what was seen. */
type ConformanceRule = readonly [
  rule: string,
  look: (bank: BankUnderTest) => Promise<readonly [isKept: boolean, seen: string]>,
]

/** Requests that are made at once of one order. */
const concurrentSubmissions = 8

/** Older than a bank may take. */
const expiredAgeMs = 600_000

/**
 * Tries at a bank every rule that it must keep (docs/guides/rails.md), with a few orders to an account of whoever asks.
 *
 * Reports are not tried: the service takes them where it runs.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function checkRail(
  service: Service,
  at: HttpRailConfig,
  input: z.input<typeof CheckRailInput>,
): Promise<readonly RuleResult[]> {
  const bank = createBankUnderTest(service, at, parseInput(CheckRailInput, input))
  const checked: RuleResult[] = []
  try {
    // One after the other: what a rule sees is of the orders of those before.
    for (const [rule, look] of conformanceRules) {
      const [isKept, seen] = await look(bank)
      checked.push({ rule, result: isKept ? 'pass' : 'FAIL', seen })
    }
  } finally {
    bank.close()
  }
  return checked
}

type BankUnderTest = ReturnType<typeof createBankUnderTest>

/** A bank with the orders that are tried. */
function createBankUnderTest(service: Service, { url, secrets }: HttpRailConfig, account: TestAccount) {
  const signer = parseSigner(secrets)
  const { call, close } = createBankClient({ url, signer, wallClock: service.wallClock, limits: bankLimits })
  const createInstruction = () => createTestInstruction(service, account)
  const ask = async (order: PaymentInstruction, change: Omit<BankRequest, 'orderId'>): Promise<BankResponse> => {
    const body = change.type === 'submit' ? { body: encodePaymentInstruction(order) } : {}
    return parseBankResponse(order.id, await call({ orderId: order.id, ...body, ...change }))
  }
  return {
    first: createInstruction(),
    second: createInstruction(),
    cancelled: createInstruction(),
    forged: createInstruction(),
    never: createInstruction(),
    /** What was said first of each order that was taken. */
    sayings: new Map<PaymentInstruction, BankResponse>(),
    submit: (order: PaymentInstruction) => ask(order, { type: 'submit' }),
    find: (order: PaymentInstruction) => ask(order, { type: 'find' }),
    cancel: (order: PaymentInstruction) => ask(order, { type: 'cancel' }),
    ask,
    close,
  }
}

function createTestInstruction(
  service: Service,
  { amount, currency: asked, ...recipient }: TestAccount,
): PaymentInstruction {
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
    transferType: localTransferTypeFor(currency),
    recipient: { name, accountNumber, bankName, bankCode },
    purpose: 'GIFTS',
    narration: 'rail check',
    createdAt: timestamp(now),
    submittedAt: timestamp(now),
    attempts: 1,
    now,
  }
}

const conformanceRules: readonly ConformanceRule[] = [
  [
    'an order is answered with a state',
    async ({ first, submit, sayings }) => {
      const seen = await submit(first)
      sayings.set(first, seen)
      return [hasValidState(seen), summarizeResponse(seen)]
    },
  ],
  [
    'the same order again is the same order, and not another',
    async ({ first, submit, sayings }) => {
      const seen = await submit(first)
      return [isConsistentWith(sayings.get(first), seen), summarizeResponse(seen)]
    },
  ],
  [
    'its id with another amount is refused, or answered with what became of the first',
    async ({ first, submit, sayings }) => {
      const seen = await submit({ ...first, amount: `1${first.amount}` })
      return [isRejected(seen) || isConsistentWith(sayings.get(first), seen), summarizeResponse(seen)]
    },
  ],
  [
    `one order submitted ${concurrentSubmissions} times at once is one order`,
    async ({ second, submit, find, sayings }) => {
      const seen = await Promise.all(Array.from({ length: concurrentSubmissions }, () => submit(second)))
      const latest = await find(second)
      const states = seen.filter(hasValidState)
      sayings.set(second, latest)
      // Whoever comes meanwhile may be told to come again.
      return [
        states.length > 0 && states.every((each) => isConsistentWith(each, latest)),
        [...new Set(seen.map(summarizeResponse)), summarizeResponse(latest)].join('; '),
      ]
    },
  ],
  [
    'an order is found',
    async ({ first, find, sayings }) => {
      const seen = await find(first)
      return [isConsistentWith(sayings.get(first), seen), summarizeResponse(seen)]
    },
  ],
  [
    'each answer has the id of its order',
    async ({ first, submit, find }) => {
      const seen = [await submit(first), await find(first)]
      return [
        seen.every(({ isNamed, status }) => isNamed || status === notFound),
        seen.map(summarizeResponse).join('; '),
      ]
    },
  ],
  [
    'each order is answered with its own reference',
    async ({ first, second, find }) => {
      const [one, other] = [await find(first), await find(second)]
      const areOwn = one.report?.reference == null || one.report.reference !== other.report?.reference
      return [
        hasValidState(one) && hasValidState(other) && areOwn,
        `${summarizeResponse(one)}; ${summarizeResponse(other)}`,
      ]
    },
  ],
  [
    'an id that was never submitted is not found: 404',
    async ({ never, find }) => {
      const seen = await find(never)
      return [seen.status === notFound, summarizeResponse(seen)]
    },
  ],
  [
    'what is no order is refused',
    async ({ never, ask }) => {
      const seen = await ask(never, { type: 'submit', body: '{"id":' })
      return [isRejected(seen), summarizeResponse(seen)]
    },
  ],
  ...(['submit', 'find', 'cancel'] as const).map(
    (question): ConformanceRule => [
      `${question}: what is not signed, or wrongly, long ago or for something else is refused: 401`,
      async ({ forged, first, never, ask }) => {
        // What is looked for is there: else 404 would look like a refusal.
        const order = { submit: forged, find: first, cancel: first }[question]
        const seen = await Promise.all([
          ask(order, { type: question, headers: removeSignature }),
          ask(order, { type: question, signedBy: parseSigner([generateSharedSecret()]) }),
          ask(order, { type: question, ageMs: expiredAgeMs }),
          ask(order, { type: question, ageMs: -expiredAgeMs }),
          ask(order, {
            type: question,
            signedAs: messageId(({ submit: 'find', find: 'cancel', cancel: 'find' } as const)[question], order.id),
          }),
          ask(order, { type: question, signedAs: messageId(question, never.id) }),
        ])
        const ways = ['not signed', 'wrongly', 'long ago', 'to come', 'for something else', 'for another order']
        return [
          seen.every(({ status }) => status === unauthorized),
          seen.map((each, place) => `${ways[place]}: ${summarizeResponse(each)}`).join('; '),
        ]
      },
    ],
  ),
  [
    'an order whose signature is refused is not taken',
    async ({ forged, find }) => {
      const seen = await find(forged)
      return [seen.status === notFound, summarizeResponse(seen)]
    },
  ],
  [
    'one signature of several that is right is enough',
    async ({ first, ask }) => {
      const headers = (signed: Readonly<Record<string, string>>) => {
        const other = `v1,${Buffer.alloc(32).toString('base64')}`
        return { ...signed, 'webhook-signature': `${other} ${signed['webhook-signature']}` }
      }
      const seen = await ask(first, { type: 'find', headers })
      return [hasValidState(seen), summarizeResponse(seen)]
    },
  ],
  [
    'an id that was never submitted can not be cancelled: 404',
    async ({ never, cancel }) => {
      const seen = await cancel(never)
      return [seen.status === notFound, summarizeResponse(seen)]
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
      const isAsItWas = isConsistentWith(taken, found) && isConsistentWith(found, again)
      return [
        hasValidState(taken) &&
          answer.cancelling !== null &&
          { CANCELLED: isOver, TOO_LATE: isAsItWas }[answer.cancelling],
        [taken, answer, found, again].map(summarizeResponse).join('; '),
      ]
    },
  ],
  [
    'no order that was taken is lost, or goes back',
    async ({ sayings, find }) => {
      const seen = await Promise.all([...sayings].map(async ([order, before]) => ({ before, now: await find(order) })))
      return [
        seen.every(({ before, now }) => isConsistentWith(before, now)),
        seen.map(({ now }) => summarizeResponse(now)).join('; '),
      ]
    },
  ],
]

// What a bank answers with (RFC 9110).
const [badRequest, unauthorized, notFound, tooManyRequests, internalServerError] = [400, 401, 404, 429, 500] as const

/** Whether a request is refused for good, and nothing is said of an order. */
function isRejected(seen: BankResponse): boolean {
  const { status } = seen
  return (
    status !== null &&
    status >= badRequest &&
    status < internalServerError &&
    status !== tooManyRequests &&
    !hasValidState(seen)
  )
}

function removeSignature(signed: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(signed).filter(([name]) => !name.startsWith('webhook-')))
}
