import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'

const { API_URL = 'http://127.0.0.1:4000', API_KEY = '' } = process.env
if (!API_KEY) throw new Error('Set API_KEY')

/** A client typed by the service's `/openapi.json`: an unknown path or field does not compile. */
export const service = createClient<paths>({ baseUrl: API_URL, headers: { 'x-api-key': API_KEY } })

export type Order = paths['/api/payouts/banks']['post']['requestBody']['content']['application/json']
export type Payout = components['schemas']['Payout']
export type Failure = components['schemas']['Failure']
export type Event = components['schemas']['Event']

export function lineOf({ created_at, id, status, amount, asset_code, ...payout }: Payout): string {
  return `${created_at} ${id} ${status} ${amount} ${asset_code} to ${payout.withdrawal_recipient_name}`
}
