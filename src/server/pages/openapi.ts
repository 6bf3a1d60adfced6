import { httpStatusByCode } from '../../core/api/http-status.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { errorCodes } from '../../core/errors.ts'
import { license, name, version } from '../../core/package.ts'
import { exampleWalletId } from '../../modules/wallets/wallet-shape.ts'
import type { Mode } from '../../operations/context.ts'
import { errorDescriptions, failure } from '../../rest/error-responses.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import type { Route, RouteGroup } from '../../rest/route.ts'
import { commonErrorCodes, introduction } from './openapi-introduction.ts'
import type { JsonSchemas } from './openapi-schemas.ts'
import { hoistSchema, inputSchema, isNullable, mergeSchemas, withoutNull } from './openapi-schemas.ts'
import { openapiWebhooks, webhookHeaders } from './openapi-webhooks.ts'

type OpenApiOperation = ReturnType<typeof operationOf>

/** Builds the OpenAPI document from the same schemas and shapes that the service uses. */
export function openapiDocument(groups: readonly RouteGroup[], mode: Mode) {
  const schemas: JsonSchemas = {}
  hoistSchema(failure.schema, schemas)
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const { name: group, routes } of groups) {
    for (const route of routes) {
      const path = route.path.replace(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, group, schemas) }
    }
  }
  const failures = groups.flatMap(({ routes }) => routes.flatMap(errorCodesByStatus))
  return {
    openapi: '3.1.1',
    info: {
      title: name,
      version,
      description: introduction(mode),
      license: { name: license, identifier: license },
      contact: { name: 'The operator of this service' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: groups.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks: openapiWebhooks(schemas, (schema) => hoistSchema(schema, schemas)),
    components: {
      schemas,
      parameters: { ...headerParameters, ...webhookHeaders },
      headers,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'API key of a merchant.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'API key or client token.' },
      },
      responses: Object.fromEntries(failures.map((codes) => [codes.join('-'), failureResponse(codes)])),
    },
  }
}

function operationOf(route: Route, group: string, schemas: JsonSchemas) {
  const { method, status } = route
  const isCreation = method === 'POST' && route.writeOperation !== null
  const fields = fieldsOf(route)
  return {
    operationId: route.name,
    summary: route.title,
    description: route.description,
    tags: [group],
    parameters: [
      ...fields.filter(({ location }) => location !== 'body').map(parameterOf),
      ...(isCreation ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      { $ref: '#/components/parameters/RequestId' },
    ],
    ...(method !== 'GET' && { requestBody: requestBodyOf(fields.filter(({ location }) => location === 'body')) }),
    responses: {
      [status]: {
        description: 'Success.',
        headers: headersOf(['X-Request-Id', ...rateHeaders, ...ownHeaders(route)]),
        content: contentOf(route, schemas),
      },
      ...Object.fromEntries(
        errorCodesByStatus(route).map((codes) => [
          statusOf(codes),
          { $ref: `#/components/responses/${codes.join('-')}` },
        ]),
      ),
    } as Record<string, OpenApiResponse | { $ref: string }>,
  }
}

function ownHeaders({ method, types, location, convert, writeOperation }: Route): readonly (keyof typeof headers)[] {
  if (types !== null) return ['Content-Disposition']
  if (method === 'GET') return []
  const ofEveryWrite = convert === null ? (['X-Ignored-Fields'] as const) : []
  if (method !== 'POST' || writeOperation === null) return ofEveryWrite
  return [...ofEveryWrite, 'Idempotent-Replayed', ...(location === null ? [] : (['Location'] as const))]
}

const fileSchema: JsonSchema = { type: 'string', description: 'The content of the file.', examples: ['type,…'] }

function contentOf({ types, response }: Route, schemas: JsonSchemas): Record<string, { schema: JsonSchema }> {
  if (types === null) return { 'application/json': { schema: hoistSchema(response.schema, schemas) } }
  const names = types.map((type) => type.split(';')[0] as string)
  return Object.fromEntries(names.map((name) => [name, { schema: fileSchema }]))
}

type OpenApiField = {
  readonly name: string
  readonly location: 'path' | 'query' | 'body'
  readonly isRequired: boolean
  readonly schema: JsonSchema
  readonly example: unknown
}

function fieldsOf({ schema, fields, payloadNames, method, example }: Route): OpenApiField[] {
  const { properties = {}, required = [] } = inputSchema(schema)
  return fields.map(({ field, wire, schema: declared }) => ({
    name: wire,
    location: !payloadNames.has(wire) ? 'path' : method === 'GET' ? 'query' : 'body',
    isRequired: required.includes(field),
    schema: mergeSchemas(declared, properties[field] ?? {}),
    example: example[field],
  }))
}

function parameterOf({ name, location, isRequired, schema, example }: OpenApiField) {
  const { description, ...rest } = schema
  const mayBeEmpty = isNullable(schema)
  return {
    name,
    in: location,
    required: isRequired,
    description,
    ...(mayBeEmpty && { allowEmptyValue: true }),
    schema: mayBeEmpty ? withoutNull(rest) : rest,
    ...(example !== undefined && { example }),
  }
}

function requestBodyOf(fields: readonly OpenApiField[]) {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return {
    required: required.length > 0,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
          ...(required.length > 0 && { required }),
        } as JsonSchema,
        example: Object.fromEntries(
          fields.filter(({ example }) => example !== undefined).map(({ name, example }) => [name, example]),
        ),
      },
    },
  }
}

function errorCodesByStatus({ method, path, payloadNames, errors, writeOperation }: Route): ErrorCode[][] {
  const codes = new Set<ErrorCode>([
    ...commonErrorCodes,
    ...errors,
    ...(payloadNames.size > 0 || method !== 'GET' ? (['INVALID_INPUT'] as const) : []),
    ...(path.includes(':') ? (['ENDPOINT_NOT_FOUND'] as const) : []),
    ...(method === 'GET' ? [] : (['MALFORMED_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
    ...(method === 'POST' && writeOperation !== null ? (['IDEMPOTENCY_KEY_REUSED'] as const) : []),
  ])
  const inOrder = errorCodes.filter((code) => codes.has(code))
  return [...Map.groupBy(inOrder, (code) => httpStatusByCode[code]).values()]
}

function statusOf([code]: readonly ErrorCode[]): number {
  return code ? httpStatusByCode[code] : 500
}

type OpenApiResponse = ReturnType<typeof failureResponse>

function failureResponse(codes: readonly ErrorCode[]) {
  const status = statusOf(codes)
  const narrowing = { error: { type: 'object', properties: { code: { type: 'string', enum: codes } } } }
  return {
    description: codes.map((code) => `\`${code}\`: ${errorDescriptions[code]}`).join('\n\n'),
    headers: headersOf(['X-Request-Id', ...(headersByStatus[status] ?? commonHeaders)]),
    content: {
      // `application/problem+json` is omitted, because code generators would merge both media types into one type.
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Failure' }, { type: 'object', properties: narrowing }] },
      },
    } as Record<string, { schema: JsonSchema }>,
  }
}

const headerParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes the request safe to retry. Printable ASCII characters, bare or quoted.',
    schema: { type: 'string', pattern: '^[ -~]+$', minLength: 1, maxLength: 255 },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description: 'Your own request id, returned in the response and logged. An id in another format is replaced.',
    schema: { type: 'string', pattern: '^[ -~]+$', minLength: 1, maxLength: 128 },
  },
}

const header = (required: boolean, description: string, example: string) => ({
  required,
  description,
  schema: { type: 'string' },
  example,
})

const headers = {
  'X-Request-Id': header(true, 'The id of the request: yours, or a generated one.', 'my-request-1'),
  'RateLimit-Policy': header(
    false,
    'The rate limit, if there is one: `q` requests of a merchant in any window of `w` seconds.',
    '"default";q=50;w=1',
  ),
  RateLimit: header(
    false,
    'The remaining quota, if there is a limit: `r` requests, and the full quota again in `t` seconds.',
    '"default";r=49;t=1',
  ),
  'Idempotent-Replayed': header(
    false,
    '`true` if this is the stored response of an earlier request with the same key.',
    'true',
  ),
  'X-Ignored-Fields': header(
    false,
    'Unknown fields of the body, which had no effect: at most ten names, and `*` for all others.',
    'reference, metadata',
  ),
  Location: header(
    true,
    'The path of the created resource, relative to the service.',
    `/api/wallets/${exampleWalletId}`,
  ),
  'Content-Disposition': header(true, 'The name of the file.', 'attachment; filename="payouts-2026-11.csv"'),
  'Retry-After': header(true, 'Seconds to wait before a retry.', '1'),
  'WWW-Authenticate': header(true, 'How to authenticate.', 'Bearer realm="payout-gateway"'),
}

const rateHeaders = ['RateLimit-Policy', 'RateLimit'] as const
const commonHeaders = [...rateHeaders, 'X-Ignored-Fields'] as const

/** Responses to errors before rate limiting have no `RateLimit` headers. */
const headersByStatus: Record<number, readonly (keyof typeof headers)[]> = {
  401: [...rateHeaders, 'WWW-Authenticate'],
  406: [],
  408: [],
  417: [],
  429: [...rateHeaders, 'Retry-After'],
  503: [...commonHeaders, 'Retry-After'],
}

function headersOf(names: readonly (keyof typeof headers)[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
