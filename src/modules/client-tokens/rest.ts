import { scopes } from '../../operations/access/scopes.ts'
import { notInContract } from '../../rest/input-fields.ts'
import { plainText, someOf, timestamp, uuid } from '../../rest/json-types.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { post } from '../../rest/route.ts'
import { member, nullable, resource } from '../../rest/shape.ts'
import type { ClientToken } from './create-client-token.ts'
import { createClientToken, defaultTokenSeconds } from './create-client-token.ts'

const clientToken = resource<ClientToken>('ClientToken', 'What a page sends in the place of an API key, for a while.', {
  token: member(
    ({ token }) => token,
    plainText(
      'The token, a JWT: it goes into the header `Authorization`, after `Bearer`.',
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjAxMjM0NTY3ODlhYmNkZWYifQ.e30.c2lnbmF0dXJl',
    ),
  ),
  expires_at: member(({ expiresAt }) => expiresAt, timestamp('When it ends, unless its API key is revoked before.')),
  scopes: member(({ scopes }) => scopes, someOf('What it may do.', scopes, ['read', 'payouts'])),
  customer_id: nullable(
    ({ customerId }) => customerId,
    uuid('The one customer that it acts as; null where it acts as the merchant.'),
  ),
})

export const clientTokenEndpoints: RouteGroup = {
  name: 'Client tokens',
  description: 'What a page in a browser bears in the place of an API key.',
  routes: [
    post('/api/client-tokens', createClientToken, {
      title: 'Make a client token',
      description: `Makes a token with which a page acts as the merchant or as one of its customers, for ${defaultTokenSeconds / 60} minutes unless it is said. Nothing is stored, so an idempotency key changes nothing. ${notInContract}`,
      fields: {
        customerId: 'The customer that it acts as, for whom nothing of others exists; absent for the merchant itself.',
        scopes: {
          type: 'array',
          minItems: 1,
          items: { type: 'string', enum: scopes },
          description: 'What it may do, at most what the API key may.',
        },
        expiresIn: {
          type: 'integer',
          minimum: 60,
          maximum: 86_400,
          description: 'Seconds for which it is good.',
        },
      },
      example: { scopes: ['read', 'payouts'], expiresIn: 3_600 },
      response: { data: clientToken },
    }),
  ],
}
