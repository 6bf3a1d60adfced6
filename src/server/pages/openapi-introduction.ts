import type { Mode } from '../../context.ts'
import { webhookFormats } from '../../delivery/formats.ts'
import { meaningOf } from '../../doors/described-values.ts'
import { statusOfCode } from '../../doors/http-status.ts'
import type { ErrorCode } from '../../errors.ts'
import { sandboxAccounts } from '../../payout-transfers/sandbox-accounts.ts'
import { meanings } from '../../rest/failures.ts'

/** What is wrong for every endpoint in the same way. */
export const refusedEverywhere: readonly ErrorCode[] = [
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

/** The part of the OpenAPI document that is about no single endpoint, in Markdown. */
export function introduction(mode: Mode): string {
  return [general, errors(), webhooks(), graphql, ...(mode === 'sandbox' ? [sandbox()] : [])].join('\n\n')
}

const general = `Wallets, payout methods and payouts of stablecoins, for merchants and their customers.

## Keys

Every request carries the API key of a merchant, as \`x-api-key\` or as \`Authorization: Bearer\`, and sees and moves what is that merchant’s and its customers’, nothing else. What does not exist and what is somebody else’s are answered alike, with 404.

## Requests

Bodies are JSON. An empty string or null in an optional field means that it is left out, but an empty id of a payout or wallet is refused: it would decide whose money it is. Unknown fields are ignored, and \`X-Ignored-Fields\` names them, but a known one in another spelling, such as \`customerId\`, is refused: ignoring it would act for the wrong owner. Text is trimmed, and control characters are refused. Amounts are decimal strings and are never rounded.

## Retries

\`Idempotency-Key\` makes it safe to send a POST again: the same body gets the same answer, marked \`Idempotent-Replayed\`, and nothing happens twice. Keys of payouts are kept for ever, others for 30 days; they are shared with GraphQL. Only successes are remembered.

## Answers

A success has \`status\`, and what the endpoint gives as \`message\`, \`data\` and \`pagination\`. A failure has a \`code\` to switch on, and a request id to look for in the log; all faulty fields are named at once. A path that is asked with a method that it does not have answers 405 \`METHOD_NOT_ALLOWED\`, and names in \`Allow\` those that it has. Ids are UUIDs, times ISO 8601 in UTC. Lists are newest first, and a page beyond the last is empty.

## Problem details

Failures are described here as they are unless another form is asked for. Who sends \`Accept: application/problem+json\` gets each as RFC 9457 has it: \`type\`, \`title\` (the code), \`status\`, \`detail\` (the sentence), the members of \`details\`, and \`request_id\`.

## Events

What happens is an event, numbered for each merchant from 1 without a gap, and can be read in \`GET /api/events\` for ever. Webhook endpoints get each as it happens, at least once, signed by Standard Webhooks 1.0.0; \`webhooks\` below tells what is posted.

## Pages

A page in a browser may call every endpoint, and read every answer, from the origins that the service names. In live it sends a client token, which the merchant’s server makes, as \`Authorization: Bearer\`: an API key that comes from a page is refused with 403 \`API_KEY_IN_BROWSER\`.`

function errors(): string {
  return `## Errors

Every endpoint can answer these errors; the responses of an endpoint list its own as well.

${table(
  ['Status', 'Code', 'Meaning'],
  refusedEverywhere
    .toSorted((one, other) => statusOfCode[one] - statusOfCode[other])
    .map((code) => [String(statusOfCode[code]), `\`${code}\``, meanings[code] ?? '']),
)}`
}

function webhooks(): string {
  return `## Webhooks

Each event is posted to every enabled endpoint that asks for its type, at least once. Events of one object come in order; those of different objects do not wait for each other. A receiver that keeps the last \`sequence\` reads missed events in \`GET /api/events\`. Each endpoint chooses a format:

${table(
  ['Format', 'Meaning'],
  webhookFormats.map((format) => [`\`${format}\``, meaningOf(webhookFormats, format)]),
)}`
}

const graphql = `## GraphQL

The same service answers GraphQL at \`/graphql\`, with the same key and the same ids: a field \`uuid\` is the \`id\` here, and every argument that takes an id takes one of these. What a form needs to ask for, quotes, the events of a payout and subscriptions are there only.`

function sandbox(): string {
  const accounts = Object.entries(sandboxAccounts).toSorted(([one], [other]) => Number(one) - Number(other))
  return `## Sandbox

In the sandbox a simulated bank plays every outcome. The last two digits of \`account_number\` choose what the bank does with a payout; to any other account a payout stays \`PROCESSING\` until the GraphQL mutation \`simulatePayout\` decides it.

${table(
  ['Account', 'Outcome'],
  accounts.map(([digits, outcome]) => [`\`99999999${digits}\``, outcome]),
)}

The GraphQL mutation \`advanceClock(input: { by: "P1D" })\`, or the command \`clock --by P1D\`, moves the clock of the merchant forward. Everything that falls due in that time has happened when it answers. Signatures of webhooks keep to the time of the machine.`
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
