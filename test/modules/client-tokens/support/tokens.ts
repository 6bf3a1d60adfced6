import { expect } from 'vitest'
import { createKey } from '../../../../src/modules/merchants/manage-keys.ts'
import { customerScopes } from '../../../../src/operations/access/scopes.ts'
import type { App } from '../../../support/app.ts'

type TokenOptions = { readonly key?: string; readonly expiresIn?: number }

/** Creates a client token of a customer, or of the merchant for `null`, by default with all scopes of a customer. */
export async function tokenFor(
  app: App,
  customerId: string | null,
  scopes: readonly string[] = customerScopes,
  { key = app.merchant.apiKey, expiresIn }: TokenOptions = {},
): Promise<string> {
  const body = { customer_id: customerId, scopes, expires_in: expiresIn }
  const created = await app.rest('POST', '/api/client-tokens', { key, body })
  expect([created.status, created.text]).toEqual([201, expect.stringContaining('token')])
  return created.body.data.token
}

export const bearerOptions = (token: string) => ({ key: null, headers: { authorization: `Bearer ${token}` } })

export async function newKey({ service, merchant }: App, terms: Parameters<typeof createKey>[2]) {
  const created = await createKey(service, merchant.id, terms)
  // Readers take a new snapshot in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  return created
}
