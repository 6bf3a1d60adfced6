import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { httpStatusByCode } from '../../core/api/http-status.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { errorCodes } from '../../core/errors.ts'
import { textRules } from '../../core/input.ts'
import type { Mode } from '../../operations/context.ts'
import { errorDescriptions, failure } from '../../rest/error-responses.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import type { Route, RouteGroup } from '../../rest/route.ts'
import { commonErrorCodes, introduction } from './openapi-introduction.ts'
import { openapiWebhooks, webhookHeaders } from './openapi-webhooks.ts'
import type { JsonSchemas } from './schema-sample.ts'

type OpenApiOperation = ReturnType<typeof operationOf>

/**
 * The OpenAPI 3.1 document of these endpoints.
 *
 * What is taken comes from the schemas that the operations parse with, what is answered from the shapes that write it. A test holds every recorded exchange against it.
 */
export function openapiDocument(groups: readonly RouteGroup[], mode: Mode) {
  const { name, version, license } = readPackage()
  const schemas: JsonSchemas = {}
  hoistSchema(failure.schema, schemas)
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const { name, routes } of groups) {
    for (const route of routes) {
      const path = route.path.replace(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, name, schemas) }
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
    servers: [{ url: '/', description: 'The service that this document comes from.' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: groups.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks: openapiWebhooks(schemas, (schema) => hoistSchema(schema, schemas)),
    components: {
      schemas,
      parameters: { ...headerParameters, ...webhookHeaders },
      headers,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The API key of a merchant.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key, as a bearer token.' },
      },
      responses: Object.fromEntries(failures.map((codes) => [codes.join('-'), failureResponse(codes)])),
    },
  }
}

/** What the package says of itself. */
function readPackage(): { name: string; version: string; license: string } {
  return JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
}

function operationOf(route: Route, group: string, schemas: JsonSchemas) {
  const { method, status } = route
  const isCreation = method === 'POST'
  const fields = fieldsOf(route)
  return {
    operationId: route.name,
    summary: route.title,
    description: route.description,
    tags: [group],
    parameters: [
      ...fields.filter(({ location: place }) => place !== 'body').map(parameterOf),
      ...(isCreation ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      { $ref: '#/components/parameters/RequestId' },
    ],
    ...(method !== 'GET' && { requestBody: requestBodyOf(fields.filter(({ location: place }) => place === 'body')) }),
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

function ownHeaders({ method, types }: Route) {
  if (types !== null) return ['Content-Disposition'] as const
  if (method === 'GET') return []
  return method === 'POST' ? (['X-Ignored-Fields', 'Idempotent-Replayed'] as const) : (['X-Ignored-Fields'] as const)
}

const fileSchema: JsonSchema = { type: 'string', description: 'The text of the file.', examples: ['type,…'] }

function contentOf({ types, response: answer }: Route, schemas: JsonSchemas): Record<string, { schema: JsonSchema }> {
  if (types === null) return { 'application/json': { schema: hoistSchema(answer.schema, schemas) } }
  const names = types.map((type) => type.split(';')[0] as string)
  return Object.fromEntries(names.map((name) => [name, { schema: fileSchema }]))
}

/** A field of the input as it is on the wire. */
type OpenApiField = {
  readonly name: string
  readonly location: 'path' | 'query' | 'body'
  readonly isRequired: boolean
  readonly schema: JsonSchema
  readonly example: unknown
}

function fieldsOf({ schema, fields, payloadNames: carried, method, example }: Route): OpenApiField[] {
  const { properties = {}, required = [] } = inputSchema(schema)
  return fields.map(({ field, wire, said }) => ({
    name: wire,
    location: !carried.has(wire) ? 'path' : method === 'GET' ? 'query' : 'body',
    isRequired: required.includes(field),
    schema: mergeSchemas(said, properties[field] ?? {}),
    example: example[field],
  }))
}

/** The operation's own schema of its input, with the lengths that texts may have. */
function inputSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    // What takes anything and judges by itself is described where its field is.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const rule = textRules.get(zodSchema as unknown as z.ZodType)
      if (rule)
        Object.assign(jsonSchema, { maxLength: rule.maxLength, ...(jsonSchema.type === 'string' && { minLength: 1 }) })
    },
  }) as JsonSchema
}

/** What is said of a field, and over it what its schema says; null is written as a type beside the other. */
function mergeSchemas(said: JsonSchema, { anyOf, ...own }: JsonSchema): JsonSchema {
  const [value, nothing] = anyOf ?? []
  const type = said.type ?? value?.type
  const mayBeNothing = nothing?.type === 'null' && type !== undefined
  // What is said with its type is in a form of its own on the wire.
  const of = said.type === undefined ? { ...said, ...own, ...(mayBeNothing && value) } : said
  const schema: JsonSchema = { ...of, ...(mayBeNothing && { type: [String(type), 'null'] }) }
  return isNullable(schema) && schema.enum ? { ...schema, enum: [...schema.enum, null] } : schema
}

function parameterOf({ name, location: place, isRequired, schema, example }: OpenApiField) {
  const { description, ...rest } = schema
  const isOptionalText = isNullable(schema)
  return {
    name,
    in: place,
    required: isRequired,
    description,
    ...(isOptionalText && { allowEmptyValue: true }),
    schema: isOptionalText ? withoutNull(rest) : rest,
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

function isNullable({ type }: JsonSchema): boolean {
  return Array.isArray(type) && type.includes('null')
}

/** A query has no null: what is left empty is left out. */
function withoutNull({ type, enum: values, ...schema }: JsonSchema): JsonSchema {
  return { ...schema, type: String(type?.[0]), ...(values && { enum: values.filter((value) => value !== null) }) }
}

/** The schema with every one within it that has a title put among `schemas`, and referred to. */
function hoistSchema({ title, ...schema }: JsonSchema, schemas: JsonSchemas): JsonSchema {
  const { properties, items, oneOf: choices } = schema
  const whole = {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, hoistSchema(each, schemas)]),
      ),
    }),
    ...(items && { items: hoistSchema(items, schemas) }),
    ...(choices && { oneOf: choices.map((each) => hoistSchema(each, schemas)) }),
  }
  if (title === undefined) return whole
  schemas[title] = whole
  return { $ref: `#/components/schemas/${title}` }
}

/** What an endpoint can refuse with, the codes of each status together. */
function errorCodesByStatus({ method, path, payloadNames: carried, errors: refusals }: Route): ErrorCode[][] {
  const codes = new Set<ErrorCode>([
    ...commonErrorCodes,
    ...refusals,
    ...(carried.size > 0 || method !== 'GET' ? (['INVALID_INPUT'] as const) : []),
    ...(path.includes(':') ? (['ENDPOINT_NOT_FOUND'] as const) : []),
    ...(method === 'GET' ? [] : (['MALFORMED_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
    ...(method === 'POST' ? (['IDEMPOTENCY_KEY_REUSED'] as const) : []),
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
      // One media type, though there are two: programs that make types of this document make one of all that is listed, of
      // which only what is common can be read. The introduction tells of the other.
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
    description: 'Makes it safe to send the request again: printable ASCII characters, bare or in quotes.',
    schema: { type: 'string', pattern: '^[ -~]+$', minLength: 1, maxLength: 255 },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description: 'An id of your own, to be found in the answer and in the log; one in another form is replaced.',
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
  'X-Request-Id': header(true, 'The id of the request: yours, or one of the service.', 'my-request-1'),
  'RateLimit-Policy': header(
    false,
    'How many requests (`q`) of a merchant are answered in any window of `w` seconds, where there is a limit.',
    '"default";q=50;w=1',
  ),
  RateLimit: header(
    false,
    'How many requests are left (`r`), where there is a limit: all of them are again in `t` seconds.',
    '"default";r=49;t=1',
  ),
  'Idempotent-Replayed': header(
    false,
    '`true` when the answer is that of an earlier request with the same key.',
    'true',
  ),
  'X-Ignored-Fields': header(
    false,
    'The fields of the body that are not known and had no effect, where there are any: at most ten, and `*` for all others.',
    'reference, metadata',
  ),
  'Content-Disposition': header(true, 'What to call the file.', 'attachment; filename="payouts-2026-11.csv"'),
  'Retry-After': header(true, 'Seconds to wait before trying again.', '1'),
  'WWW-Authenticate': header(true, 'How to send a key.', 'Bearer realm="payout-gateway"'),
}

const rateHeaders = ['RateLimit-Policy', 'RateLimit'] as const
const commonHeaders = [...rateHeaders, 'X-Ignored-Fields'] as const

/** Where a refusal comes before anything is counted, or has headers of its own. */
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
