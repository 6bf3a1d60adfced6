import { expect } from 'vitest'
import { createKey } from '../../../../src/modules/merchants/manage-keys.ts'
import { customerScopes } from '../../../../src/operations/access/scopes.ts'
import type { App } from '../../../support/app.ts'

type Asked = { readonly key?: string; readonly expiresIn?: number }

/** A token that acts as a customer, or as the merchant for `null`, and may do all that one for a customer may unless it is said. */
export async function tokenFor(
  app: App,
  customerId: string | null,
  scopes: readonly string[] = customerScopes,
  { key = app.merchant.apiKey, expiresIn }: Asked = {},
): Promise<string> {
  const body = { customer_id: customerId, scopes, expires_in: expiresIn }
  const made = await app.rest('POST', '/api/client-tokens', { key, body })
  expect([made.status, made.text]).toEqual([201, expect.stringContaining('token')])
  return made.body.data.token
}

/** What a request is sent with that bears a token. */
export const bearerOptions = (token: string) => ({ key: null, headers: { authorization: `Bearer ${token}` } })

/** A key of the merchant with terms of its own. */
export async function newKey({ service, merchant }: App, terms: Parameters<typeof createKey>[2]) {
  const made = await createKey(service, merchant.id, terms)
  // Doors that only read see from their next turn on what another process has written.
  await new Promise((resolve) => setImmediate(resolve))
  return made
}
