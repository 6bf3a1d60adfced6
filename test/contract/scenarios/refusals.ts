import { formatApiKey, newApiKey } from '../../../src/modules/merchants/api-key.ts'
import { createKey, revokeKey } from '../../../src/modules/merchants/manage-keys.ts'
import type { App } from '../../support/app.ts'
import type { Transcript } from '../transcript.ts'

/** Bytes that a body may have (ruling 6). */
const bodyLimitBytes = 256 * 1024

/** Records what every endpoint refuses in the same way: keys, media types, methods and the rate. */
export async function recordCommonRefusals(
  transcript: Transcript,
  app: App,
  { request, body }: { request: string; body?: unknown },
): Promise<void> {
  const given = body === undefined ? {} : { body }
  await recordKeyRefusals(transcript, app, request, given)
  await transcript.exchange(app, '406: another media type wanted', request, {
    ...given,
    headers: { accept: 'text/html' },
  })
  await transcript.exchange(app, '405: another method', `PATCH ${request.split(' ')[1]}`)
  if (!request.startsWith('GET ')) await recordBodyRefusals(transcript, app, request)
  await recordRateRefusal(transcript, request, given)
  await recordPageRefusal(transcript, request, given)
}

async function recordKeyRefusals(
  transcript: Transcript,
  app: App,
  request: string,
  given: { body?: unknown },
): Promise<void> {
  const { id, apiKey: revoked } = await createKey(app.service, app.merchant.id)
  await revokeKey(app.service, id)
  const unknown = formatApiKey(newApiKey('sandbox'))
  transcript.alias(revoked, '{{revoked key}}')
  transcript.alias(unknown, '{{unknown key}}')

  await transcript.exchange(app, '401: no key', request, { ...given, key: null })
  await transcript.exchange(app, '401: a malformed key', request, { ...given, key: 'letmein' })
  await transcript.exchange(app, '401: an unknown key', request, { ...given, key: unknown })
  await transcript.exchange(app, '401: a revoked key', request, { ...given, key: revoked })
  await transcript.exchange(app, '401: as problem details', request, {
    ...given,
    key: null,
    headers: { accept: 'application/problem+json' },
  })
  await recordRestrictedKeys(transcript, app, request, given)
}

async function recordRestrictedKeys(
  transcript: Transcript,
  app: App,
  request: string,
  given: { body?: unknown },
): Promise<void> {
  // Nothing of what is recorded is done in the sandbox alone.
  const restricted = await createKey(app.service, app.merchant.id, { scopes: ['sandbox'] })
  const elsewhere = await createKey(app.service, app.merchant.id, { scopes: ['read'], networks: ['203.0.113.0/24'] })
  transcript.alias(restricted.apiKey, '{{restricted key}}')
  transcript.alias(elsewhere.apiKey, '{{key of another network}}')
  await transcript.exchange(app, '403: a key without the scope', request, { ...given, key: restricted.apiKey })
  await transcript.exchange(app, '403: a key of another network', request, { ...given, key: elsewhere.apiKey })
}

async function recordBodyRefusals(transcript: Transcript, app: App, request: string): Promise<void> {
  const json = { 'content-type': 'application/json' }
  const oversized = `{"note":"${' '.repeat(bodyLimitBytes)}"}`
  await transcript.exchange(app, '413: a body over the limit', request, { payload: oversized, headers: json })
  await transcript.exchange(app, '415: a body that is no JSON', request, {
    payload: 'type=BANK',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  await transcript.exchange(app, '400: malformed JSON', request, { payload: '{"type":', headers: json })
  await transcript.exchange(app, '400: invalid UTF-8', request, {
    payload: Buffer.from('22ff22', 'hex'),
    headers: json,
  })
  await transcript.exchange(app, '400: an array', request, { payload: '[]', headers: json })
  await transcript.exchange(app, '400: null', request, { payload: 'null', headers: json })
}

async function recordRateRefusal(transcript: Transcript, request: string, given: { body?: unknown }): Promise<void> {
  const limited = await transcript.start({ rateLimit: 1 })
  await limited.rest('GET', '/api/asset-codes')
  await transcript.exchange(limited, '429: over the rate limit', request, given)
}

async function recordPageRefusal(transcript: Transcript, request: string, given: { body?: unknown }): Promise<void> {
  const origin = 'https://app.example.com'
  const live = await transcript.start({ mode: 'live', corsOrigins: [origin] })
  await transcript.exchange(live, '403: a key in a page', request, { ...given, headers: { origin } })
}

/** An id that nothing has. */
export const absentId = '00000000-0000-7000-8000-000000000000'

/** Another merchant of the same service: its key, written `{{other key}}`. */
export async function otherMerchant(transcript: Transcript, app: App): Promise<string> {
  const { apiKey } = await app.otherMerchant()
  transcript.alias(apiKey, '{{other key}}')
  return apiKey
}
