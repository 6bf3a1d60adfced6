import { z } from 'zod'
import { timestamp } from '../../../core/ids-and-clock.ts'
import { identifier, oneOf, optional, parseInput, positiveAmount, text } from '../../../core/input.ts'
import { formatAmount } from '../../../core/money/amount.ts'
import type { Service } from '../../../operations/context.ts'
import { corridorTo, localTransferTypeFor, recipientCurrencies } from '../../payouts/payout.ts'
import { generateSharedSecret, parseSigner } from '../../webhooks/transport/standard-webhooks.ts'
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

export type RuleResult = { readonly rule: string; readonly result: 'pass' | 'FAIL'; readonly seen: string }

type ConformanceRule = readonly [
  rule: string,
  check: (bank: BankUnderTest) => Promise<readonly [isKept: boolean, seen: string]>,
]

const concurrentSubmissions = 8

/** Request signatures expire after five minutes. */
const expiredAgeMs = 600_000

/**
 * The recipient of the test orders should be a bank account of the operator. The suite does not test reports that the
 * bank posts.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function checkRail(
  service: Service,
  rail: HttpRailConfig,
  input: z.input<typeof CheckRailInput>,
): Promise<readonly RuleResult[]> {
  const bank = createBankUnderTest(service, rail, parseInput(CheckRailInput, input))
  const results: RuleResult[] = []
  try {
    // The rules run sequentially, because later rules use the orders of earlier rules.
    for (const [rule, check] of conformanceRules) {
      const [isKept, seen] = await check(bank)
      results.push({ rule, result: isKept ? 'pass' : 'FAIL', seen })
    }
  } finally {
    bank.close()
  }
  return results
}

type BankUnderTest = ReturnType<typeof createBankUnderTest>

function createBankUnderTest(service: Service, { url, secrets }: HttpRailConfig, account: TestAccount) {
  const signer = parseSigner(secrets)
  const { call, close } = createBankClient({ url, signer, wallClock: service.wallClock, limits: bankLimits })
  const createInstruction = () => createTestInstruction(service, account)
  const send = async (order: PaymentInstruction, change: Omit<BankRequest, 'orderId'>): Promise<BankResponse> => {
    const body = change.type === 'submit' ? { body: encodePaymentInstruction(order) } : {}
    return parseBankResponse(order.id, await call({ orderId: order.id, ...body, ...change }))
  }
  return {
    first: createInstruction(),
    second: createInstruction(),
    cancelled: createInstruction(),
    forged: createInstruction(),
    never: createInstruction(),
    responses: new Map<PaymentInstruction, BankResponse>(),
    submit: (order: PaymentInstruction) => send(order, { type: 'submit' }),
    find: (order: PaymentInstruction) => send(order, { type: 'find' }),
    cancel: (order: PaymentInstruction) => send(order, { type: 'cancel' }),
    send,
    close,
  }
}

function createTestInstruction(
  service: Service,
  { amount, currency: chosenCurrency, ...recipient }: TestAccount,
): PaymentInstruction {
  const id = service.newId()
  const { recipientName: name, accountNumber, bankName, bankCode } = recipient
  const now = service.now()
  const currency = chosenCurrency ?? 'NGN'
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
    'submitting an order returns its state',
    async ({ first, submit, responses }) => {
      const seen = await submit(first)
      responses.set(first, seen)
      return [hasValidState(seen), summarizeResponse(seen)]
    },
  ],
  [
    'submitting the same order again creates no second order',
    async ({ first, submit, responses }) => {
      const seen = await submit(first)
      return [isConsistentWith(responses.get(first), seen), summarizeResponse(seen)]
    },
  ],
  [
    'its id with another amount is rejected, or returns the state of the first order',
    async ({ first, submit, responses }) => {
      const seen = await submit({ ...first, amount: `1${first.amount}` })
      return [isRejected(seen) || isConsistentWith(responses.get(first), seen), summarizeResponse(seen)]
    },
  ],
  [
    `one order submitted ${concurrentSubmissions} times concurrently is one order`,
    async ({ second, submit, find, responses }) => {
      const seen = await Promise.all(Array.from({ length: concurrentSubmissions }, () => submit(second)))
      const latest = await find(second)
      const states = seen.filter(hasValidState)
      responses.set(second, latest)
      // The bank may ask concurrent callers to retry their requests.
      return [
        states.length > 0 && states.every((each) => isConsistentWith(each, latest)),
        [...new Set(seen.map(summarizeResponse)), summarizeResponse(latest)].join('; '),
      ]
    },
  ],
  [
    'an order can be queried',
    async ({ first, find, responses }) => {
      const seen = await find(first)
      return [isConsistentWith(responses.get(first), seen), summarizeResponse(seen)]
    },
  ],
  [
    'each response has the id of its order',
    async ({ first, submit, find }) => {
      const seen = [await submit(first), await find(first)]
      return [
        seen.every(({ isNamed, status }) => isNamed || status === notFound),
        seen.map(summarizeResponse).join('; '),
      ]
    },
  ],
  [
    'each order has its own reference',
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
    'an invalid order is rejected',
    async ({ never, send }) => {
      const seen = await send(never, { type: 'submit', body: '{"id":' })
      return [isRejected(seen), summarizeResponse(seen)]
    },
  ],
  ...(['submit', 'find', 'cancel'] as const).map(
    (type): ConformanceRule => [
      `${type}: a request with a missing, wrong, expired or reused signature is rejected: 401`,
      async ({ forged, first, never, send }) => {
        // `find` and `cancel` use an existing order, because a 404 for an unknown order would look like a rejected
        // signature.
        const order = { submit: forged, find: first, cancel: first }[type]
        const seen = await Promise.all([
          send(order, { type, headers: removeSignature }),
          send(order, { type, signedBy: parseSigner([generateSharedSecret()]) }),
          send(order, { type, ageMs: expiredAgeMs }),
          send(order, { type, ageMs: -expiredAgeMs }),
          send(order, {
            type,
            signedAs: messageId(({ submit: 'find', find: 'cancel', cancel: 'find' } as const)[type], order.id),
          }),
          send(order, { type, signedAs: messageId(type, never.id) }),
        ])
        const defects = [
          'unsigned',
          'wrong key',
          'too old',
          'in the future',
          'for another request',
          'for another order',
        ]
        return [
          seen.every(({ status }) => status === unauthorized),
          seen.map((response, i) => `${defects[i]}: ${summarizeResponse(response)}`).join('; '),
        ]
      },
    ],
  ),
  [
    'an order with a rejected signature is not accepted',
    async ({ forged, find }) => {
      const seen = await find(forged)
      return [seen.status === notFound, summarizeResponse(seen)]
    },
  ],
  [
    'one valid signature among several is enough',
    async ({ first, send }) => {
      const headers = (signed: Readonly<Record<string, string>>) => {
        const other = `v1,${Buffer.alloc(32).toString('base64')}`
        return { ...signed, 'webhook-signature': `${other} ${signed['webhook-signature']}` }
      }
      const seen = await send(first, { type: 'find', headers })
      return [hasValidState(seen), summarizeResponse(seen)]
    },
  ],
  [
    'an id that was never submitted cannot be cancelled: 404',
    async ({ never, cancel }) => {
      const seen = await cancel(never)
      return [seen.status === notFound, summarizeResponse(seen)]
    },
  ],
  [
    'a cancelled order stays REJECTED, or the bank answers TOO_LATE and keeps its state',
    async ({ cancelled, submit, cancel, find, responses }) => {
      const submitted = await submit(cancelled)
      const cancellation = await cancel(cancelled)
      const [queried, resubmitted] = [await find(cancelled), await submit(cancelled)]
      responses.set(cancelled, queried)
      const isRejectedNow = [queried, resubmitted].every(({ report }) => report?.state === 'REJECTED')
      const isUnchanged = isConsistentWith(submitted, queried) && isConsistentWith(queried, resubmitted)
      return [
        hasValidState(submitted) &&
          cancellation.cancelling !== null &&
          { CANCELLED: isRejectedNow, TOO_LATE: isUnchanged }[cancellation.cancelling],
        [submitted, cancellation, queried, resubmitted].map(summarizeResponse).join('; '),
      ]
    },
  ],
  [
    'no accepted order is lost or returns to an earlier state',
    async ({ responses, find }) => {
      const seen = await Promise.all(
        [...responses].map(async ([order, before]) => ({ before, now: await find(order) })),
      )
      return [
        seen.every(({ before, now }) => isConsistentWith(before, now)),
        seen.map(({ now }) => summarizeResponse(now)).join('; '),
      ]
    },
  ],
]

const [badRequest, unauthorized, notFound, tooManyRequests, internalServerError] = [400, 401, 404, 429, 500] as const

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
