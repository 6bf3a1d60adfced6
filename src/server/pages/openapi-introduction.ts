import { enumDescription } from '../../core/api/enum-descriptions.ts'
import { httpStatusByCode } from '../../core/api/http-status.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { sandboxAccounts } from '../../modules/rail-orders/sandbox-accounts.ts'
import { webhookFormats } from '../../modules/webhooks/transport/formats.ts'
import type { Mode } from '../../operations/context.ts'
import { errorDescriptions } from '../../rest/error-responses.ts'

export const commonErrorCodes: readonly ErrorCode[] = [
  'MALFORMED_REQUEST',
  'MISSING_TOKEN',
  'INVALID_TOKEN',
  'INSUFFICIENT_SCOPE',
  'NETWORK_NOT_ALLOWED',
  'API_KEY_IN_BROWSER',
  'NOT_ACCEPTABLE',
  'REQUEST_TIMEOUT',
  'EXPECTATION_FAILED',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
]

export function introduction(mode: Mode): string {
  return [general, errors(), webhooks(), graphql, ...(mode === 'sandbox' ? [sandbox()] : [])].join('\n\n')
}

const general = `Wallets, payout methods and payouts of stablecoins, for merchants and their customers.

## Keys

Every request carries the API key of a merchant, as \`x-api-key\` or as \`Authorization: Bearer\`. It reads and changes the data of that merchant and its customers only. An object of another merchant gets the same 404 as one that does not exist.

## Requests

Bodies are JSON. An empty string or null in an optional field means that the field is absent, but a payout with an empty id of a customer, wallet or payout method is rejected, because the id decides whose money moves. Unknown fields are ignored, and \`X-Ignored-Fields\` names them. A known field in another spelling, such as \`customerId\`, is rejected, because ignoring it could act for the wrong owner. Text is trimmed, and control characters are rejected. Amounts are decimal strings and are never rounded.

## Retries

\`Idempotency-Key\` makes a POST safe to repeat: the same key and body get the same response, marked \`Idempotent-Replayed\`, and nothing happens twice. Keys of payouts are kept permanently, others for 30 days. REST and GraphQL share them. Only successful responses are stored.

## Responses

A successful response has \`status\` and, depending on the endpoint, \`message\`, \`data\` and \`pagination\`. An error has a \`code\` to switch on and a request id to search the log for, and lists every invalid field. A path that does not support a method responds with 405 \`METHOD_NOT_ALLOWED\` and lists the methods that it supports in \`Allow\`. Ids are UUIDs, times ISO 8601 in UTC. Lists are newest first, and a page after the last is empty.

## Problem details

With \`Accept: application/problem+json\` an error has the form of RFC 9457: \`type\`, \`title\` (the code), \`status\`, \`detail\` (the sentence), the members of \`details\`, and \`request_id\`.

## Events

Every change is recorded as an event. Events are numbered per merchant from 1 without gaps, and \`GET /api/events\` returns them permanently. Webhook endpoints receive each event at least once, signed by Standard Webhooks 1.0.0.

## Browsers

Pages from the origins that the service allows may call every endpoint and read every response. In live a page sends a client token, which the merchant’s server creates, as \`Authorization: Bearer\`. An API key that a page sends is rejected with 403 \`API_KEY_IN_BROWSER\`.`

function errors(): string {
  return `## Errors

Every endpoint can return these errors. The responses of an endpoint list its own as well.

${table(
  ['Status', 'Code', 'Meaning'],
  commonErrorCodes
    .toSorted((one, other) => httpStatusByCode[one] - httpStatusByCode[other])
    .map((code) => [String(httpStatusByCode[code]), `\`${code}\``, errorDescriptions[code] ?? '']),
)}`
}

function webhooks(): string {
  return `## Webhooks

Each event is posted at least once to every enabled endpoint that subscribes to its type. Events of one object arrive in order; those of different objects do not wait for each other. A receiver that stores the last \`sequence\` reads missed events from \`GET /api/events\`. Each endpoint has a format:

${table(
  ['Format', 'Meaning'],
  webhookFormats.map((format) => [`\`${format}\``, enumDescription(webhookFormats, format)]),
)}`
}

const graphql = `## GraphQL

The same service answers GraphQL at \`/graphql\`, with the same keys and ids: a field \`uuid\` there is the \`id\` here, and every id argument accepts one of these. Requirements of payout methods, quotes, the events of a payout and subscriptions are in GraphQL only.`

function sandbox(): string {
  const accounts = Object.entries(sandboxAccounts).toSorted(([one], [other]) => Number(one) - Number(other))
  return `## Sandbox

In the sandbox a simulated bank produces every outcome. These account numbers choose the outcome of a payout; a payout to any other account stays \`PROCESSING\` until the GraphQL mutation \`simulatePayout\` decides it.

${table(
  ['Account', 'Outcome'],
  accounts.map(([digits, outcome]) => [`\`99999999${digits}\``, outcome]),
)}

The GraphQL mutation \`advanceClock(input: { by: "P1D" })\`, or the command \`clock --by P1D\`, moves the clock of the merchant forward. Everything that falls due in that time has happened when it returns. Webhook signatures use the machine’s own clock.`
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
