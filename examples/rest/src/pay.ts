import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { RequestError, ServiceError } from '@payout-gateway/client'
import { lineOf, type Order, service } from './client.ts'

// Creates a payout: npm run -s pay -- <amount> <account> <name>. Exit codes: 0 accepted, 1 rejected, 2 unknown. After 2, and after
// a crash, run it again without arguments: it retries the same order with the same idempotency key, which pays once.

type Sent = { readonly key: string; readonly order: Order }

/** The order without a response, written before it is sent. */
const file = 'pending.json'
const pending: Sent | null = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
const [amount, account_number = '9999999900', recipient_name = 'Ngozi Obi'] = process.argv.slice(2)

if (pending && amount) exit(2, `Another payout has no response yet. Run it without an order first.`)
else if (pending) await send(pending)
else if (amount) await send(keep({ key: randomUUID(), order: orderOf(amount) }))
else exit(0, 'Everything is answered.')

async function send({ key, order }: Sent): Promise<void> {
  try {
    const { data } = await service.post('/api/payouts/banks', { body: order, idempotencyKey: key })
    rmSync(file)
    exit(0, lineOf(data))
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    // Only `rejected` proves that nothing was paid, also by an earlier attempt.
    if (error.outcome !== 'rejected')
      return exit(2, `It is not known whether it was paid (${error.message}). Run it again.`)
    rmSync(file)
    exit(1, `Refused: ${reasonOf(error)}`)
  }
}

/** Both APIs use the same error codes, each with its own details. */
function reasonOf(error: RequestError): string {
  if (!(error instanceof ServiceError)) return error.message
  const { code, message, details } = error
  if (code === 'INSUFFICIENT_FUNDS') return `${code}: it takes ${details.required}, and there are ${details.available}`
  if (code === 'INVALID_INPUT') return `${code}: ${details.fields?.map((field) => field.message).join(', ')}`
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
