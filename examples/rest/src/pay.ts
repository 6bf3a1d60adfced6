import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type Failure, lineOf, type Order, service } from './client.ts'

// Pays out: npm run -s pay -- <amount> <account> <name>. Its exit code is 0 for paid, 1 for refused and 2 for not known. After
// that, and after a crash, run it again without an order: it sends the same with the same key, which pays once.

type Sent = { readonly key: string; readonly order: Order }

/** What was sent and not answered: written before anything is sent. */
const file = 'unanswered.json'
const unanswered: Sent | null = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
const [amount, account_number = '9999999900', recipient_name = 'Ngozi Obi'] = process.argv.slice(2)

if (unanswered && amount) exit(2, `Another payout is not answered. Run it without an order first.`)
else if (unanswered) await send(unanswered)
else if (amount) await send(keep({ key: randomUUID(), order: orderOf(amount) }))
else exit(0, 'Everything is answered.')

async function send({ key, order }: Sent): Promise<void> {
  const request = service.POST('/api/payouts/banks', { params: { header: { 'Idempotency-Key': key } }, body: order })
  const answer = await request.catch(() => null)
  if (answer?.data) {
    rmSync(file)
    return exit(0, lineOf(answer.data.data))
  }
  // These say that nothing was paid. A time-out, a wrong key, a limit and a fault say nothing of an earlier try.
  if (answer && [400, 404, 409, 422].includes(answer.response.status)) {
    rmSync(file)
    return exit(1, `Refused: ${reasonOf(answer.error.error)}`)
  }
  exit(2, `It is not known whether it was paid (${answer?.error?.message ?? 'no answer'}). Run it again.`)
}

/** The same for every door: a code for programs, and what each code has to say. */
function reasonOf({ code, message, details }: Failure['error']): string {
  if (code === 'INSUFFICIENT_FUNDS')
    return `${code}: it takes ${details?.required}, and there are ${details?.available}`
  if (code === 'INVALID_INPUT') return `${code}: ${details?.fields?.map((field) => field.message).join(', ')}`
  return `${code}: ${message}`
}

function keep(sent: Sent): Sent {
  writeFileSync(`${file}.new`, JSON.stringify(sent), { flush: true })
  renameSync(`${file}.new`, file)
  return sent
}

function orderOf(amount: string): Order {
  const bank = { account_number, bank_name: 'Zenith Bank', bank_code: '057' }
  const nigeria = { recipient_currency: 'NGN', recipient_country: 'Nigeria' } as const
  return { currency: 'USDC', amount, recipient_name, ...bank, ...nigeria }
}

function exit(code: number, line: string): void {
  process[code === 0 ? 'stdout' : 'stderr'].write(`${line}\n`)
  process.exitCode = code
}
