import { scopes } from '../../operations/access/scopes.ts'
import { notInContract } from '../../rest/input-fields.ts'
import { plainText, someOf, timestamp, uuid } from '../../rest/json-types.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { post } from '../../rest/route.ts'
import { member, nullable, resource } from '../../rest/shape.ts'
import type { ClientToken } from './create-client-token.ts'
import { createClientToken, clientTokenDescriptions as descriptions } from './create-client-token.ts'

const clientToken = resource<ClientToken>(
  'ClientToken',
  'A short-lived credential for a browser page, instead of an API key.',
  {
    token: member(
      ({ token }) => token,
      plainText(
        descriptions.token,
        'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjAxMjM0NTY3ODlhYmNkZWYifQ.e30.c2lnbmF0dXJl',
      ),
    ),
    expires_at: member(({ expiresAt }) => expiresAt, timestamp(descriptions.expiresAt)),
    scopes: member(({ scopes }) => scopes, someOf(descriptions.scopes, scopes, ['read', 'payouts'])),
    customer_id: nullable(({ customerId }) => customerId, uuid(descriptions.customer)),
  },
)

export const clientTokenEndpoints: RouteGroup = {
  name: 'Client tokens',
  description: 'Short-lived credentials for browser pages, instead of an API key.',
  routes: [
    post('/api/client-tokens', createClientToken, {
      title: 'Create a client token',
      description: `${descriptions.operation} ${notInContract}`,
      fields: {
        customerId: descriptions.customerId,
        scopes: {
          type: 'array',
          minItems: 1,
          items: { type: 'string', enum: scopes },
          description: descriptions.requestedScopes,
        },
        expiresIn: {
          type: 'integer',
          minimum: 60,
          maximum: 86_400,
          description: descriptions.expiresIn,
        },
      },
      example: { scopes: ['read', 'payouts'], expiresIn: 3_600 },
      response: { data: clientToken },
    }),
  ],
}
