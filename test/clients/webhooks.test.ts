import { describe, expect, test } from 'vitest'
import { verifyStablestackWebhook, verifyWebhook, WebhookError } from '../../clients/typescript/src/index.ts'
import type { WallTime } from '../../src/core/ids-and-clock.ts'
import type { EventMessage } from '../../src/modules/webhooks/transport/build-request.ts'
import { buildRequest } from '../../src/modules/webhooks/transport/build-request.ts'
import type { WebhookFormat } from '../../src/modules/webhooks/transport/formats.ts'
import { webhookFormats } from '../../src/modules/webhooks/transport/formats.ts'
import {
  generateKeyPair,
  generateSharedSecret,
  parseSigner,
} from '../../src/modules/webhooks/transport/standard-webhooks.ts'

const now = Date.parse('2026-03-02T09:30:00Z')
const event: EventMessage = {
  id: 'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2',
  type: 'payout.completed',
  timestamp: '2026-03-02T09:30:00.000Z',
  sequence: 1234,
  object: { type: 'payout', id: '01980c60-1f2e-7d3c-8b4a-5a6978879605', version: 2 },
  mode: 'sandbox',
  data: '{"id":"01980c60-1f2e-7d3c-8b4a-5a6978879605","narration":"Für Ọlá 🎉","b":1,"10":2}',
}

/** Builds a webhook as the service does. */
function webhook(secrets: readonly string[], format: WebhookFormat = 'standard', ageMs = 0) {
  return buildRequest(event, { format, signer: parseSigner(secrets), now: (now - ageMs) as WallTime })
}

const secret = generateSharedSecret()
const { privateKey, publicKey } = generateKeyPair()

const reasonOf = async (verified: Promise<unknown>) => {
  const error = await verified.catch((e) => e)
  return error instanceof WebhookError ? error.reason : error
}

describe('a webhook', () => {
  test.each(webhookFormats)('in the format %s is verified by the signature in its headers', async (format) => {
    const { body, headers } = webhook([secret], format)
    expect(await verifyWebhook({ body, headers, secrets: secret, now })).toEqual(JSON.parse(body))
  })

  test('is verified if its body is bytes and its headers are a Headers object', async () => {
    const { body, headers } = webhook([secret])
    const bytes = new TextEncoder().encode(body)
    const verified = await verifyWebhook({ body: bytes, headers: new Headers(headers), secrets: [secret], now })
    expect(verified).toMatchObject({ type: 'payout.completed', sequence: 1234 })
  })

  test('is verified with only a public key, and with any of its secrets during a rotation', async () => {
    const next = generateSharedSecret()
    const { body, headers } = webhook([next, secret, privateKey])
    for (const secrets of [
      publicKey,
      next,
      secret,
      [generateSharedSecret(), publicKey],
      [generateSharedSecret(), next],
    ])
      expect(await verifyWebhook({ body, headers, secrets, now })).toMatchObject({ id: event.id })
  })

  test('is rejected if its body, id, timestamp or signature was changed, or if the secret or the public key is wrong', async () => {
    const { body, headers } = webhook([secret, privateKey])
    const secrets = [secret, publicKey]
    const wrong = [
      { body: body.replace('1234', '1235'), headers, secrets },
      { body, headers: { ...headers, 'webhook-id': 'evt_other' }, secrets },
      { body, headers: { ...headers, 'webhook-timestamp': String(now / 1_000 + 1) }, secrets },
      { body, headers, secrets: [generateSharedSecret(), generateKeyPair().publicKey] },
      { body, headers: { ...headers, 'webhook-signature': 'v1,AAAA v1a,AAAA v1,*' }, secrets },
      { body, headers: { ...headers, 'webhook-signature': '' }, secrets },
      // The signature of one scheme is none of the other.
      {
        body,
        headers: { ...headers, 'webhook-signature': headers['webhook-signature']?.replace('v1a,', 'v1,') },
        secrets: publicKey,
      },
    ]
    for (const request of wrong) expect(await reasonOf(verifyWebhook({ ...request, now }))).toBe('wrong-signature')
  })

  test('is valid within five minutes of its timestamp, or within the given tolerance', async () => {
    const { body, headers } = webhook([secret])
    const at = (seconds: number, toleranceSeconds?: number) =>
      reasonOf(
        verifyWebhook({
          body,
          headers,
          secrets: secret,
          now: now + seconds * 1_000,
          ...(toleranceSeconds !== undefined && { toleranceSeconds }),
        }),
      )
    expect(await at(300)).toMatchObject({ id: event.id })
    expect(await at(-300)).toMatchObject({ id: event.id })
    expect(await at(301)).toBe('expired')
    expect(await at(-301)).toBe('expired')
    expect(await at(11, 10)).toBe('expired')
    expect(await at(900, 1_000)).toMatchObject({ id: event.id })
  })

  test('is rejected as malformed without its id header or its timestamp header', async () => {
    const { body, headers } = webhook([secret])
    for (const name of ['webhook-id', 'webhook-timestamp'])
      expect(
        await reasonOf(verifyWebhook({ body, headers: { ...headers, [name]: undefined }, secrets: secret, now })),
      ).toBe('malformed')
    expect(await reasonOf(verifyWebhook({ body, headers: {}, secrets: secret, now }))).toBe('malformed')
  })

  test('is not verified with a malformed secret, and the error does not contain the secret', async () => {
    const { body, headers } = webhook([secret])
    for (const wrong of ['', 'whsec_', 'whsec_c2hvcnQ=', secret.slice(6), privateKey, 'whpk_c2hvcnQ=', 'whsec_***']) {
      const error = await verifyWebhook({ body, headers, secrets: wrong, now }).catch((e) => e)
      expect(error).toEqual(new TypeError('A webhook secret is whsec_ or whpk_ with its bytes in base64.'))
    }
  })
})

describe('the signature in the body of a webhook of the format `stablestack`', () => {
  const verify = (body: string, changes: object = {}) =>
    verifyStablestackWebhook({ body, secrets: secret, now, ...changes })

  test('is verified with the right secret, alone or among several secrets', async () => {
    const { body } = webhook([secret], 'stablestack')
    expect(await verify(body)).toMatchObject({ id: event.id, event_type: 'payout.completed' })
    expect(await verify(body, { secrets: [generateSharedSecret(), secret] })).toMatchObject({ id: event.id })
  })

  test('is rejected if the content, the secret or the format is wrong, or if the webhook is too old', async () => {
    const { body } = webhook([secret], 'stablestack')
    expect(await reasonOf(verify(body.replace('payout.completed', 'payout.failed')))).toBe('wrong-signature')
    expect(await reasonOf(verify(body, { secrets: generateSharedSecret() }))).toBe('wrong-signature')
    expect(await reasonOf(verify(webhook([secret]).body))).toBe('malformed')
    expect(await reasonOf(verify('not JSON'))).toBe('malformed')
    expect(await reasonOf(verify(webhook([secret], 'stablestack', 301_000).body))).toBe('expired')
  })
})
