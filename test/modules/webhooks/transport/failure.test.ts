import { expect, test } from 'vitest'
import type { ConnectionPhase } from '../../../../src/modules/webhooks/transport/failure.ts'
import { DeliveryError, toDeliveryFailure } from '../../../../src/modules/webhooks/transport/failure.ts'

const errorOf = (code?: string) => Object.assign(new Error('10.0.0.1 said no'), code === undefined ? {} : { code })

test.each<[ConnectionPhase, string | undefined, string, string]>([
  ['connecting', 'ECONNREFUSED', 'connect', 'No connection could be made (ECONNREFUSED).'],
  ['connecting', undefined, 'connect', 'No connection could be made.'],
  ['securing', 'CERT_HAS_EXPIRED', 'tls', 'The TLS handshake failed (CERT_HAS_EXPIRED).'],
  ['connected', 'HPE_INVALID_CONSTANT', 'protocol', 'The response is not valid HTTP (HPE_INVALID_CONSTANT).'],
  ['connected', 'ECONNRESET', 'reset', 'The connection was closed before the response was complete.'],
  ['connected', 'EPIPE', 'reset', 'The connection was closed before the response was complete.'],
  ['connected', 'ENETDOWN', 'other', 'The request failed (ENETDOWN).'],
  ['connected', undefined, 'other', 'The request failed.'],
])('an error of a request that was %s, with code %s, is a failure of kind %s', (phase, code, kind, message) => {
  expect(toDeliveryFailure(errorOf(code), phase)).toEqual({ kind, message })
})

test('a thrown delivery failure is reported with its own kind and message', () => {
  expect(toDeliveryFailure(new DeliveryError('dns', 'No such host.'), 'connecting')).toEqual({
    kind: 'dns',
    message: 'No such host.',
  })
})
