import { formatAmount } from '../../../src/core/money/amount.ts'
import type { PlainForm } from '../plain-payout.ts'
import { plainPayouts } from '../plain-payout.ts'
import { servePlainly } from './plain-server.ts'

// Payouts on PostgreSQL in plain form, behind node:http: `node postgres-payouts.ts <url> <connections>
// <transaction|statement>`.
const [url = '', connections, form] = process.argv.slice(2)
const { pay } = plainPayouts(url, Number(connections), form as PlainForm)

servePlainly(async ({ merchantId, key, body }) => {
  JSON.parse(body)
  const balance = formatAmount(BigInt(await pay({ merchantId, key })))
  return [200, { status: 'success', data: { amount: '1.00000000', balance, status: 'PROCESSING' } }]
})
