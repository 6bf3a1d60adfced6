import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { unavailableDatabase } from '../../../src/database/database.ts'
import { checkRail } from '../../../src/modules/rails/adapters/conformance-suite.ts'
import {
  createSignedHeaders,
  parseSigner,
  verifySignature,
} from '../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { createService } from '../../../src/operations/context.ts'
import { cli, createDemoInstallation } from '../../support/process.ts'
import { wallTime } from '../../support/times.ts'
import type { Received } from '../webhooks/transport/support/receiver.ts'
import { startReceiver } from '../webhooks/transport/support/receiver.ts'
import type { exampleBanks } from './support/example-bank.ts'
import { placeForBank } from './support/example-bank.ts'

const service = createService({ db: unavailableDatabase(), mode: 'sandbox' })
const account = {
  accountNumber: '0000014579',
  bankCode: '011',
  bankName: 'First Bank of Nigeria',
  recipientName: 'Ada Obi',
}

const languages: readonly (keyof typeof exampleBanks)[] = ['TypeScript', 'Python']

test.each(languages)('the example bank in %s passes every check of the `rail check` command', async (language) => {
  const bank = await placeForBank(language)
  await bank.start()
  const { env } = await createDemoInstallation()
  const configured = { ...env, RAILS: `bank:${bank.at.url}`, RAIL_SECRET_BANK: bank.secret }
  const options = ['--account', '0000014579', '--bank-code', '011', '--bank-name', 'First Bank', '--name', 'Ada Obi']
  const { code, json, stderr } = await cli(
    { ...(await createDemoInstallation()), env: configured },
    'rail',
    'check',
    'bank',
    ...options,
    '--json',
  )
  expect([code, stderr]).toEqual([0, ''])
  const results = json() as Awaited<ReturnType<typeof checkRail>>
  expect(results.filter(({ result }) => result !== 'pass')).toEqual([])
  expect(results).toHaveLength(17)
})

test('an unreachable bank fails every check of the `rail check` command', async () => {
  const bank = await placeForBank('TypeScript')
  const results = await checkRail(service, bank.at, account)
  expect(
    new Set(results.map(({ result, seen }) => `${result} ${seen.includes('No connection could be made')}`)),
  ).toEqual(new Set(['FAIL true']))
})

test('the `rail check` command rejects a rail that is not in RAILS, and an invalid account or amount', async () => {
  const installation = await createDemoInstallation()
  const options = ['--account', '0000014579', '--bank-code', '011', '--bank-name', 'First Bank', '--name', 'Ada Obi']
  const { code, stderr } = await cli(installation, 'rail', 'check', 'bank', ...options)
  expect([code, stderr]).toEqual([1, 'Rail not found.\n'])
  const bank = await placeForBank('TypeScript')
  const configured = {
    ...installation,
    env: { ...installation.env, RAILS: `bank:${bank.at.url}`, RAIL_SECRET_BANK: bank.secret },
  }
  const rejected = await cli(configured, 'rail', 'check', 'bank', ...options.with(1, '?'), '--amount', '0')
  expect(rejected.code).toBe(1)
  expect(rejected.stderr).toMatch(/--account must .*--amount must /s)
})

type BankResponse = { status: number; body: string }

type BankProxy = {
  readonly received: Received
  /** Forwards the request to the example, unchanged or with changes. */
  readonly ask: (change?: { orderId?: string; as?: Question }) => Promise<BankResponse>
  /** Whether the request is signed for its own purpose, or as `as`, at the current or another time. */
  readonly isSigned: (as?: string, now?: number) => boolean
  readonly question: Question
  readonly orderId: string
}
type Question = 'submit' | 'find' | 'cancel'

/** Returns the rules that the example bank breaks behind `proxy`. */
async function rulesBrokenBy(proxy: (before: BankProxy) => Promise<BankResponse>): Promise<string[]> {
  const bank = await placeForBank('TypeScript')
  await bank.start()
  const signer = parseSigner([bank.secret])
  const { port } = await startReceiver(async (response: ServerResponse, received) => {
    const { status, body } = await proxy(createProxy(received, { url: bank.at.url, signer }))
    response.writeHead(status).end(body)
  })
  const results = await checkRail(service, { ...bank.at, url: `http://127.0.0.1:${port}` }, account)
  return results.filter(({ result }) => result === 'FAIL').map(({ rule }) => rule)
}

function createProxy(
  received: Received,
  { url, signer }: { url: string; signer: ReturnType<typeof parseSigner> },
): BankProxy {
  const { method = '', url: path = '', headers, body } = received
  const question: Question = method === 'GET' ? 'find' : path.endsWith('/cancel') ? 'cancel' : 'submit'
  const [ownId = ''] = question === 'submit' ? (/[\w-]{36}/.exec(body) ?? []) : (/[\w-]{36}/.exec(path) ?? [])
  const pathTo = (as: Question, id: string) =>
    as === 'submit' ? '/transfers' : `/transfers/${id}${as === 'cancel' ? '/cancel' : ''}`
  return {
    received,
    question,
    orderId: ownId,
    isSigned: (as = `${question}_${ownId}`, now: number = service.wallClock()) =>
      verifySignature(headers, { body, signer, now: wallTime(now) }) === as,
    ask: async (change) => {
      const { orderId = ownId, as = question } = change ?? {}
      const sentBody = body.replaceAll(ownId || '-', orderId || '-')
      const signed = change
        ? createSignedHeaders(`${as}_${orderId}`, { body: sentBody, signer, now: service.wallClock() })
        : Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('webhook-')))
      const response = await fetch(url + pathTo(as, orderId), {
        method: as === 'find' ? 'GET' : 'POST',
        headers: signed as Record<string, string>,
        ...(as === 'submit' && { body: sentBody }),
      })
      const text = await response.text()
      return { status: response.status, body: text.replaceAll(orderId || '-', ownId || '-') }
    },
  }
}

test('control: a proxy that forwards requests unchanged passes every check of the `rail check` command', async () => {
  expect(await rulesBrokenBy(({ ask }) => ask())).toEqual([])
})

const signatures = (question: Question) =>
  `${question}: a request with a missing, wrong, expired or reused signature is rejected: 401`
const allSignatures = (['submit', 'find', 'cancel'] as const).map(signatures)
const rules = {
  again: 'submitting the same order again creates no second order',
  otherAmount: 'its id with another amount is rejected, or returns the state of the first order',
  atOnce: 'one order submitted 8 times concurrently is one order',
  own: 'each order has its own reference',
  found: 'an order can be queried',
  named: 'each response has the id of its order',
  notFound: 'an id that was never submitted is not found: 404',
  several: 'one valid signature among several is enough',
  notTaken: 'an order with a rejected signature is not accepted',
  cancelled: 'a cancelled order stays REJECTED, or the bank answers TOO_LATE and keeps its state',
  lost: 'no accepted order is lost or returns to an earlier state',
}

/** Banks with one defect each and the rules that they break. Each run creates its own state. */
const defectiveBanks: Readonly<
  Record<string, readonly [proxy: () => (before: BankProxy) => Promise<BankResponse>, rules: readonly string[]]>
> = {
  'pays a repeated order again': [
    () => {
      const paid = new Set<string>()
      return async ({ question, orderId, isSigned, ask }) => {
        const isAgain = question === 'submit' && isSigned() && paid.has(orderId)
        if (question === 'submit' && isSigned()) paid.add(orderId)
        return isAgain ? ask({ orderId: service.newId() }) : ask()
      }
    },
    [rules.again, rules.otherAmount, rules.atOnce, rules.cancelled],
  ],
  'pays twice for concurrent submissions only': [
    () => {
      const pending = new Set<string>()
      return async ({ question, orderId, isSigned, ask }) => {
        if (question !== 'submit' || !isSigned()) return ask()
        const isAgain = pending.has(orderId)
        pending.add(orderId)
        const response = await ask(isAgain ? { orderId: service.newId() } : undefined)
        pending.delete(orderId)
        return response
      }
    },
    [rules.atOnce],
  ],
  'finds every order': [
    () =>
      async ({ question, ask }) => {
        const response = await ask()
        const isUnknown = question === 'find' && response.status === 404
        return isUnknown ? { status: 200, body: '{"state":"ACCEPTED"}' } : response
      },
    [rules.notFound, rules.notTaken],
  ],
  'checks no signature': [
    () =>
      ({ ask }) =>
        ask({}),
    [...allSignatures, rules.notTaken],
  ],
  'checks no signature time': [
    () =>
      ({ received, isSigned, ask }) =>
        ask(isSigned(undefined, Number(received.headers['webhook-timestamp']) * 1_000) ? {} : undefined),
    [...allSignatures, rules.notTaken],
  ],
  'accepts the signature of another request': [
    () =>
      ({ question, orderId, isSigned, ask }) => {
        const others = (['submit', 'find', 'cancel'] as const).filter((other) => other !== question)
        return ask(others.some((other) => isSigned(`${other}_${orderId}`)) ? {} : undefined)
      },
    [...allSignatures, rules.notTaken],
  ],
  "returns another order's state": [
    () => {
      let first: string | undefined
      return async ({ question, orderId, isSigned, ask }) => {
        if (question === 'submit') first ??= orderId
        const response = await ask()
        const isFound = question === 'find' && response.status === 200 && isSigned()
        return isFound && first ? ask({ orderId: first }) : response
      }
    },
    [rules.atOnce, rules.own, rules.cancelled],
  ],
  'accepts orders and stores none': [
    () =>
      async ({ question, isSigned, ask }) =>
        question === 'find' && isSigned() ? { status: 404, body: '' } : ask(),
    [rules.atOnce, rules.found, rules.own, rules.several, rules.cancelled, rules.lost],
  ],
  'loses an order after a while': [
    () => {
      let remainingFinds = 7
      return async ({ question, ask }) => {
        const response = await ask()
        return question === 'find' && response.status === 200 && remainingFinds-- <= 0
          ? { status: 404, body: '' }
          : response
      }
    },
    [rules.lost],
  ],
  'reports REJECTED for another amount of the same order': [
    () =>
      async ({ orderId, ask }) => {
        const response = await ask()
        return response.status === 409 ? { status: 422, body: `{"id":"${orderId}","state":"REJECTED"}` } : response
      },
    [rules.otherAmount],
  ],
  'returns no order ids': [
    () =>
      async ({ ask }) => {
        const { status, body } = await ask()
        return { status, body: body.replace(/"id":"[^"]*",?/, '') }
      },
    [rules.named, rules.cancelled, rules.lost],
  ],
  'pays an order that it has cancelled': [
    () =>
      async ({ question, orderId, isSigned, ask }) => {
        const exists = question === 'cancel' && isSigned() && (await ask({ as: 'find' })).status === 200
        return exists ? { status: 200, body: `{"id":"${orderId}","state":"CANCELLED"}` } : ask()
      },
    [rules.cancelled],
  ],
}

test.each(Object.entries(defectiveBanks))(
  'the `rail check` command detects a bank that %s',
  async (_, [proxy, rules]) => {
    const brokenRules = await rulesBrokenBy(proxy())
    expect(brokenRules).toEqual(rules)
  },
)
