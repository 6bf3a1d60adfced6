import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { failure, problemDetails } from '../../src/rest/error-responses.ts'
import type { JsonSchema } from '../../src/rest/input-fields.ts'
import type { openapiDocument } from '../../src/server/pages/openapi.ts'
import type { Exchange } from '../contract/exchanges.ts'

export type OpenapiDocument = ReturnType<typeof openapiDocument>
type Definitions = OpenapiDocument['components']['schemas']
type Operation = OpenapiDocument['paths'][string][string]

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true })
ajv.addFormat('uuid', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i)
ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/)
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Returns the violations of a schema of the document in a value. */
export function valueFaults(document: OpenapiDocument, schema: JsonSchema, value: unknown): string[] {
  const { schemas } = document.components
  const validators = compiled.get(schemas) ?? new WeakMap<JsonSchema, ValidateFunction>()
  compiled.set(schemas, validators)
  const validate = validators.get(schema) ?? compile(schema, schemas)
  validators.set(schema, validate)
  return validate(value) ? [] : (validate.errors ?? []).map(faultText)
}

/** Serializing a schema with its definitions takes longer than a validation, so validators are found by object. */
const compiled = new WeakMap<Definitions, WeakMap<JsonSchema, ValidateFunction>>()
const compiledTexts = new Map<string, ValidateFunction>()

/** Compiles each distinct text once. */
function compile(schema: JsonSchema, definitions: Definitions): ValidateFunction {
  const text = JSON.stringify({ ...schema, $defs: definitions })
  const validate =
    compiledTexts.get(text) ?? ajv.compile(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')))
  compiledTexts.set(text, validate)
  return validate
}

function faultText({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${JSON.stringify(params)}`
}

/** The operation of the document for a request, if one matches. */
export function operationFor(document: OpenapiDocument, { method, url }: Pick<Exchange, 'method' | 'url'>) {
  const matches = Object.keys(document.paths)
    .sort((one, other) => one.split('{').length - other.split('{').length)
    .filter((path) => pattern(path).test(url.pathname))
  const path = matches.find((each) => document.paths[each]?.[method.toLowerCase()]) ?? matches[0]
  return path === undefined ? undefined : { path, operation: document.paths[path]?.[method.toLowerCase()] }
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

/** Returns what a recorded response has that the document does not allow, or lacks that it requires. */
export function answerFaults(document: OpenapiDocument, exchange: Exchange): string[] {
  const { status, headers, body } = exchange
  const operation = operationFor(document, exchange)?.operation
  if (!operation !== (status === 405)) return [`${exchange.method} is answered with ${status}`]
  const given = operation?.responses[status]
  const response = given && '$ref' in given ? document.components.responses[lastOf(given.$ref)] : given
  // A method that a path lacks belongs to no operation; and the document describes each failure in its default
  // form only.
  const type = headers['content-type']?.split(';')[0] ?? ''
  const schema =
    type === 'application/problem+json' && status >= 400
      ? problemDetails.schema
      : operation
        ? response?.content[type]?.schema
        : failure.schema
  if (operation && !response) return [`the status ${status} is not there`]
  return [
    ...(schema ? valueFaults(document, schema, body) : [`the media type ${headers['content-type']} is not there`]),
    ...(response ? headerFaults(document, Object.keys(response.headers), headers) : []),
    ...(operation || headers.allow ? [] : ['the header allow was not sent']),
  ]
}

/** Headers for browsers, caches and proxies, which the document omits. */
const ofHttp = /^(content-type|vary|x-accel-buffering|access-control-[a-z-]+)$/

function headerFaults(document: OpenapiDocument, names: readonly string[], given: Exchange['headers']): string[] {
  const known = names.map((name) => name.toLowerCase())
  const all: Record<string, { required: boolean }> = document.components.headers
  return [
    ...Object.keys(given)
      .filter((name) => !ofHttp.test(name) && !known.includes(name))
      .map((name) => `the header ${name} is not there`),
    ...names
      .filter((name) => all[name]?.required && !(name.toLowerCase() in given))
      .map((name) => `the header ${name} is required and was not sent`),
  ]
}

/** Returns what a recorded request has that the document does not allow: in its path, and elsewhere. */
export function requestFaults(
  document: OpenapiDocument,
  exchange: Exchange,
): { inPath: string[]; elsewhere: string[] } {
  const { path = '', operation } = operationFor(document, exchange) ?? {}
  if (!operation) return { inPath: [], elsewhere: [] }
  const inPath = pattern(path).exec(exchange.url.pathname)?.groups ?? {}
  return {
    inPath: parameterFaults(document, operation, 'path', (name) => [inPath[name] ?? '']),
    elsewhere: [
      ...parameterFaults(document, operation, 'query', (name) => exchange.url.searchParams.getAll(name)),
      ...parameterFaults(document, operation, 'header', (name) => {
        const value = exchange.requestHeaders[name.toLowerCase()]
        return value === undefined ? [] : [value]
      }),
      ...bodyFaults(document, operation, exchange),
    ],
  }
}

function parameterFaults(
  document: OpenapiDocument,
  { parameters }: Operation,
  place: string,
  valuesOf: (name: string) => string[],
): string[] {
  const shared: Record<string, { name: string; in: string; required: boolean; schema: JsonSchema }> =
    document.components.parameters
  const known = parameters.flatMap((each) => ('in' in each ? each : (shared[lastOf(each.$ref)] ?? [])))
  return known
    .filter((each) => each.in === place)
    .flatMap((parameter) => {
      const { name, required, schema } = parameter
      const values = valuesOf(name)
      if (values.length !== 1) return values.length > 1 || required ? [`${name} is given ${values.length} times`] : []
      const [value = ''] = values
      if (value === '' && 'allowEmptyValue' in parameter && parameter.allowEmptyValue) return []
      const isNumber = schema.type === 'integer' && /^-?\d+$/.test(value)
      return valueFaults(document, schema, isNumber ? Number(value) : value).map((fault) => `${name}${fault}`)
    })
}

function bodyFaults(document: OpenapiDocument, { requestBody }: Operation, exchange: Exchange): string[] {
  const { requestBody: sent, requestHeaders } = exchange
  const type = requestHeaders['content-type']
  if (!requestBody || exchange.status === 413) return []
  if (type === undefined) return requestBody.required ? ['there is no body'] : []
  const schema = Object.entries(requestBody.content).find(([name]) => name === type)?.[1].schema
  if (!schema) return [`the media type ${type} is not there`]
  try {
    return valueFaults(document, schema, withoutEmpty(schema, JSON.parse(sent ?? '')))
  } catch (error) {
    return [`the body is no JSON: ${error}`]
  }
}

/** An empty string in an optional field is null, except for ids: the document states this once for all fields. */
function withoutEmpty({ properties = {} }: JsonSchema, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const isOptional = (name: string) =>
    [properties[name]?.type].flat().includes('null') && properties[name]?.format !== 'uuid'
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, value === '' && isOptional(name) ? null : value]),
  )
}

/** The last segment of a reference. */
export function lastOf(reference: string): string {
  return reference.split('/').at(-1) ?? ''
}
