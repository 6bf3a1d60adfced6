import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { unavailableDatabase } from '../../../src/database/database.ts'
import { checkRail } from '../../../src/modules/rails/adapters/conformance-suite.ts'
import { parseSigner } from '../../../src/modules/webhooks/transport/signing-secrets.ts'
import { createSignedHeaders, verifySignature } from '../../../src/modules/webhooks/transport/standard-webhooks.ts'
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

test.each(languages)('the example in %s keeps every rule, as the command says', async (language) => {
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
  const checked = json() as Awaited<ReturnType<typeof checkRail>>
  expect(checked.filter(({ result }) => result !== 'pass')).toEqual([])
  expect(checked).toHaveLength(17)
})

test('a bank that is not there keeps none, and is no pass', async () => {
  const bank = await placeForBank('TypeScript')
  const checked = await checkRail(service, bank.at, account)
  expect(
    new Set(checked.map(({ result, seen }) => `${result} ${seen.includes('No connection could be made')}`)),
  ).toEqual(new Set(['FAIL true']))
})

test('a bank that RAILS does not name, and what is no account, are refused', async () => {
  const place = await createDemoInstallation()
  const options = ['--account', '0000014579', '--bank-code', '011', '--bank-name', 'First Bank', '--name', 'Ada Obi']
  const { code, stderr } = await cli(place, 'rail', 'check', 'bank', ...options)
  expect([code, stderr]).toEqual([1, 'Rail not found.\n'])
  const bank = await placeForBank('TypeScript')
  const configured = { ...place, env: { ...place.env, RAILS: `bank:${bank.at.url}`, RAIL_SECRET_BANK: bank.secret } }
  const refused = await cli(configured, 'rail', 'check', 'bank', ...options.with(1, '?'), '--amount', '0')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/--account must .*--amount must /s)
})

type Said = { status: number; body: string }

/** What stands before the example, and can ask it anything. */
type Before = {
  readonly received: Received
  /** What the example says to it, as it came or otherwise. */
  readonly ask: (change?: { orderId?: string; as?: Question }) => Promise<Said>
  /** Whether it was signed for what it asks, or as something else, just now or at another time. */
  readonly isSigned: (as?: string, now?: number) => boolean
  readonly question: Question
  readonly orderId: string
}
type Question = 'submit' | 'find' | 'cancel'

/** The rules that a bank breaks which is right but for `wrong`. */
async function brokenBy(wrong: (before: Before) => Promise<Said>): Promise<string[]> {
  const bank = await placeForBank('TypeScript')
  await bank.start()
  const signer = parseSigner([bank.secret])
  const { port } = await startReceiver(async (response: ServerResponse, received) => {
    const { status, body } = await wrong(beforeBank(received, { url: bank.at.url, signer }))
    response.writeHead(status).end(body)
  })
  const checked = await checkRail(service, { ...bank.at, url: `http://127.0.0.1:${port}` }, account)
  return checked.filter(({ result }) => result === 'FAIL').map(({ rule }) => rule)
}

function beforeBank(
  received: Received,
  { url, signer }: { url: string; signer: ReturnType<typeof parseSigner> },
): Before {
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
      const sent = body.replaceAll(ownId || '-', orderId || '-')
      const signed = change
        ? createSignedHeaders(`${as}_${orderId}`, { body: sent, signer, now: service.wallClock() })
        : Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('webhook-')))
      const answer = await fetch(url + pathTo(as, orderId), {
        method: as === 'find' ? 'GET' : 'POST',
        headers: signed as Record<string, string>,
        ...(as === 'submit' && { body: sent }),
      })
      const said = await answer.text()
      return { status: answer.status, body: said.replaceAll(orderId || '-', ownId || '-') }
    },
  }
}

test('nothing is wrong by what stands before the example', async () => {
  expect(await brokenBy(({ ask }) => ask())).toEqual([])
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

/** Banks that are each wrong in one way, with the rules that they break; what one keeps is made anew for each. */
const wrongBanks: Readonly<
  Record<string, readonly [wrong: () => (before: Before) => Promise<Said>, rules: readonly string[]]>
> = {
  'pays once more whenever it is asked to': [
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
  'pays twice only where it is asked twice at once': [
    () => {
      const underWay = new Set<string>()
      return async ({ question, orderId, isSigned, ask }) => {
        if (question !== 'submit' || !isSigned()) return ask()
        const isAgain = underWay.has(orderId)
        underWay.add(orderId)
        const said = await ask(isAgain ? { orderId: service.newId() } : undefined)
        underWay.delete(orderId)
        return said
      }
    },
    [rules.atOnce],
  ],
  'has every order that it is asked for': [
    () =>
      async ({ question, ask }) => {
        const said = await ask()
        const isUnknown = question === 'find' && said.status === 404
        return isUnknown ? { status: 200, body: '{"state":"ACCEPTED"}' } : said
      },
    [rules.notFound, rules.notTaken],
  ],
  'looks at no signature': [
    () =>
      ({ ask }) =>
        ask({}),
    [...allSignatures, rules.notTaken],
  ],
  'looks at no time': [
    () =>
      ({ received, isSigned, ask }) =>
        ask(isSigned(undefined, Number(received.headers['webhook-timestamp']) * 1_000) ? {} : undefined),
    [...allSignatures, rules.notTaken],
  ],
  'takes a request for another': [
    () =>
      ({ question, orderId, isSigned, ask }) => {
        const others = (['submit', 'find', 'cancel'] as const).filter((other) => other !== question)
        return ask(others.some((other) => isSigned(`${other}_${orderId}`)) ? {} : undefined)
      },
    [...allSignatures, rules.notTaken],
  ],
  "answers another order's state": [
    () => {
      let first: string | undefined
      return async ({ question, orderId, isSigned, ask }) => {
        if (question === 'submit') first ??= orderId
        const said = await ask()
        const isFound = question === 'find' && said.status === 200 && isSigned()
        return isFound && first ? ask({ orderId: first }) : said
      }
    },
    [rules.atOnce, rules.own, rules.cancelled],
  ],
  'accepts orders and keeps none': [
    () =>
      async ({ question, isSigned, ask }) =>
        question === 'find' && isSigned() ? { status: 404, body: '' } : ask(),
    [rules.atOnce, rules.found, rules.own, rules.several, rules.cancelled, rules.lost],
  ],
  'loses an order after a while': [
    () => {
      let left = 7
      return async ({ question, ask }) => {
        const said = await ask()
        return question === 'find' && said.status === 200 && left-- <= 0 ? { status: 404, body: '' } : said
      }
    },
    [rules.lost],
  ],
  'says of another amount that the order is rejected': [
    () =>
      async ({ orderId, ask }) => {
        const said = await ask()
        return said.status === 409 ? { status: 422, body: `{"id":"${orderId}","state":"REJECTED"}` } : said
      },
    [rules.otherAmount],
  ],
  'does not say of which order its answers are': [
    () =>
      async ({ ask }) => {
        const { status, body } = await ask()
        return { status, body: body.replace(/"id":"[^"]*",?/, '') }
      },
    [rules.named, rules.cancelled, rules.lost],
  ],
  'pays what it has cancelled': [
    () =>
      async ({ question, orderId, isSigned, ask }) => {
        const isThere = question === 'cancel' && isSigned() && (await ask({ as: 'find' })).status === 200
        return isThere ? { status: 200, body: `{"id":"${orderId}","state":"CANCELLED"}` } : ask()
      },
    [rules.cancelled],
  ],
}

test.each(Object.entries(wrongBanks))('a bank is found that %s', async (_, [wrong, rules]) => {
  const broken = await brokenBy(wrong())
  expect(broken).toEqual(rules)
})
