/**
 * What a new document means for clients of the old one, a sentence for each change: it breaks them, may surprise them (a new value
 * of an enum, for one), or leaves them as they are.
 */
export type Changes = { readonly [Effect in 'breaking' | 'dangerous' | 'compatible']: readonly string[] }

/** A JSON Schema with the keywords that our document uses. */
type Schema = { readonly [keyword: string]: unknown }
type Content = Readonly<Record<string, { readonly schema: Schema }>>
type Parameter = { readonly in: string; readonly name: string; readonly required?: boolean; readonly schema: Schema }
type Header = { readonly required?: boolean }
type Response = { readonly headers?: Readonly<Record<string, object>>; readonly content?: Content }
type Operation = {
  readonly parameters?: readonly object[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses?: Readonly<Record<string, object>>
  readonly deprecated?: boolean
}
type PathItem = Readonly<Record<string, Operation>>
export type OpenApi = {
  readonly paths: Readonly<Record<string, PathItem>>
  readonly webhooks?: Readonly<Record<string, PathItem>>
  readonly security?: readonly object[]
  readonly components?: object
}

/** What a client sends, or receives: a narrower request breaks clients, and so does a wider response. */
type Direction = 'request' | 'response'
type Report = { readonly [Effect in keyof Changes]: string[] }
type Both<Part> = { readonly old: Part; readonly next: Part }
type Comparison = { readonly documents: Both<OpenApi>; readonly report: Report; readonly compared: Set<string> }

/**
 * Compares two OpenAPI documents. A client of the old document is broken by a breaking change, and may be surprised by a dangerous
 * one. A change that the comparison does not understand is dangerous. Texts and examples are not compared.
 */
export function openapiChanges(old: OpenApi, next: OpenApi): Changes {
  const report: Report = { breaking: [], dangerous: [], compatible: [] }
  const comparison = { documents: { old, next }, report, compared: new Set<string>() }
  if (!isEqual(old.security, next.security)) report.breaking.push('The security of all endpoints was changed.')
  compareEndpoints(comparison)
  compareWebhooks(comparison)
  return report
}

function compareEndpoints(comparison: Comparison): void {
  const { documents, report } = comparison
  const [before, after] = [endpointsOf(documents.old), endpointsOf(documents.next)]
  for (const [name, old] of before) {
    const next = after.get(name)
    if (next) compareOperation(comparison, name, { old, next })
    else report.breaking.push(`${name} was removed.`)
  }
  for (const name of after.keys()) if (!before.has(name)) report.compatible.push(`${name} was added.`)
}

/** By method and path, in which the names of parameters make no difference. */
function endpointsOf({ paths }: OpenApi): Map<string, Operation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`,
        operation,
      ]),
    ),
  )
}

/** An event is sent to receivers, so its request is what a client receives. */
function compareWebhooks(comparison: Comparison): void {
  const { documents, report } = comparison
  const { old = {}, next = {} } = { old: documents.old.webhooks, next: documents.next.webhooks }
  for (const [name, { post }] of Object.entries(old)) {
    const later = next[name]?.post
    if (later === undefined) report.breaking.push(`The event ${name} was removed.`)
    else if (post?.requestBody && later.requestBody) {
      const contents = { old: post.requestBody.content, next: later.requestBody.content }
      compareContents(comparison, `event ${name}`, contents, 'response')
    }
  }
  const added = Object.keys(next).filter((name) => !(name in old))
  for (const name of added) report.dangerous.push(`The event ${name} was added: endpoints with all types receive it.`)
}

function compareOperation(comparison: Comparison, name: string, { old, next }: Both<Operation>): void {
  const { report } = comparison
  if (next.deprecated && !old.deprecated) report.compatible.push(`${name} was deprecated.`)
  compareParameters(comparison, name, { old, next })
  compareRequestBodies(comparison, name, { old: old.requestBody, next: next.requestBody })
  compareResponses(comparison, name, { old: old.responses ?? {}, next: next.responses ?? {} })
}

function compareParameters(comparison: Comparison, name: string, operations: Both<Operation>): void {
  const { documents, report } = comparison
  const parametersOf = (side: 'old' | 'next') =>
    new Map(
      (operations[side].parameters ?? []).map((each) => {
        const parameter = dereference<Parameter>(each, documents[side])
        // A path has its parameters by place.
        const key = parameter.in === 'path' ? 'path' : `${parameter.in} parameter ${parameter.name}`
        return [key, parameter]
      }),
    )
  const [before, after] = [parametersOf('old'), parametersOf('next')]
  for (const [key, old] of before) {
    const next = after.get(key)
    if (!next) report.breaking.push(`${name}: the ${key} was removed.`)
    else {
      if (next.required && !old.required) report.breaking.push(`${name}: the ${key} is now required.`)
      compareSchemas(comparison, `${name}: the ${key}`, { old: old.schema, next: next.schema }, 'request')
    }
  }
  for (const [key, { required }] of after) {
    if (before.has(key)) continue
    if (required) report.breaking.push(`${name}: the ${key} was added and is required.`)
    else report.compatible.push(`${name}: the ${key} was added.`)
  }
}

function compareRequestBodies(
  comparison: Comparison,
  name: string,
  { old, next }: Both<Operation['requestBody']>,
): void {
  const { report } = comparison
  if (next?.required && !old?.required) report.breaking.push(`${name}: the body is now required.`)
  if (old && !next) report.breaking.push(`${name}: the body was removed.`)
  if (old && next) compareContents(comparison, `${name}: the body`, { old: old.content, next: next.content }, 'request')
}

function compareResponses(comparison: Comparison, name: string, { old, next }: Both<Record<string, object>>): void {
  const { documents, report } = comparison
  for (const [status, response] of Object.entries(old)) {
    const later = next[status]
    if (later === undefined) {
      if (isSuccess(status)) report.breaking.push(`${name}: the response ${status} was removed.`)
      continue
    }
    const responses = {
      old: dereference<Response>(response, documents.old),
      next: dereference<Response>(later, documents.next),
    }
    compareHeaders(comparison, `${name}: the response ${status}`, responses)
    const contents = { old: responses.old.content ?? {}, next: responses.next.content ?? {} }
    compareContents(comparison, `${name}: the response ${status}`, contents, 'response')
  }
  const added = Object.keys(next).filter((status) => !(status in old))
  for (const status of added) report.dangerous.push(`${name}: the response ${status} was added.`)
}

function isSuccess(status: string): boolean {
  return status.startsWith('2')
}

function compareHeaders({ documents, report }: Comparison, place: string, { old, next }: Both<Response>): void {
  for (const [name, header] of Object.entries(old.headers ?? {})) {
    const later = next.headers?.[name]
    if (later === undefined) report.breaking.push(`${place}: the header ${name} was removed.`)
    else if (
      dereference<Header>(header, documents.old).required &&
      !dereference<Header>(later, documents.next).required
    )
      report.breaking.push(`${place}: the header ${name} may now be absent.`)
  }
  const added = Object.keys(next.headers ?? {}).filter((name) => !(name in (old.headers ?? {})))
  for (const name of added) report.compatible.push(`${place}: the header ${name} was added.`)
}

function compareContents(
  comparison: Comparison,
  place: string,
  { old, next }: Both<Content>,
  direction: Direction,
): void {
  for (const [type, { schema }] of Object.entries(old)) {
    const later = next[type]
    if (later === undefined) comparison.report.breaking.push(`${place} is no longer ${type}.`)
    else compareSchemas(comparison, place, { old: schema, next: later.schema }, direction)
  }
  const added = Object.keys(next).filter((type) => !(type in old))
  for (const type of added) comparison.report.compatible.push(`${place} may also be ${type}.`)
}

/** Compares a named schema once for each direction, under its name. */
function compareSchemas(comparison: Comparison, place: string, schemas: Both<Schema>, direction: Direction): void {
  const { documents, compared } = comparison
  const names = { old: referencedName(schemas.old), next: referencedName(schemas.next) }
  const isShared = names.old !== null && names.old === names.next
  const key = `${direction} ${names.old} ${names.next}`
  if (isShared && compared.has(key)) return
  if (isShared) compared.add(key)
  const resolved = { old: resolve(schemas.old, documents.old), next: resolve(schemas.next, documents.next) }
  compareResolved(comparison, isShared ? String(names.old) : place, resolved, direction)
}

function compareResolved(comparison: Comparison, place: string, schemas: Both<Schema>, direction: Direction): void {
  const { report } = comparison
  compareValues(report, place, schemas, direction)
  compareLimits(report, place, schemas, direction)
  compareProperties(comparison, place, schemas, direction)
  const { old, next } = schemas
  for (const keyword of ['items', 'additionalProperties'] as const) {
    if (isSchema(old[keyword]) && isSchema(next[keyword])) {
      const suffix = keyword === 'items' ? '[]' : '.*'
      compareSchemas(comparison, `${place}${suffix}`, { old: old[keyword], next: next[keyword] }, direction)
    } else if (!isEqual(old[keyword], next[keyword])) {
      report.dangerous.push(`${place}: ${keyword} was changed.`)
    }
  }
  compareAlternatives(comparison, place, schemas, direction)
  const others = Object.keys({ ...old, ...next }).filter((keyword) => !understoodKeywords.has(keyword))
  for (const keyword of others) {
    if (!isEqual(old[keyword], next[keyword])) report.dangerous.push(`${place}: ${keyword} was changed.`)
  }
}

const limitKeywords = {
  lower: ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'],
  upper: ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'],
}
const understoodKeywords = new Set([
  ...['title', 'description', 'examples', 'example', 'deprecated', '$ref'],
  ...[
    'type',
    'enum',
    'const',
    'format',
    'pattern',
    'default',
    'required',
    'properties',
    'items',
    'additionalProperties',
  ],
  ...['oneOf', 'anyOf', 'allOf', ...limitKeywords.lower, ...limitKeywords.upper],
])

function compareValues(report: Report, place: string, { old, next }: Both<Schema>, direction: Direction): void {
  const types = { old: setOf(old.type), next: setOf(next.type) }
  // Without a type any is allowed.
  const [narrower, wider] = direction === 'request' ? [types.next, types.old] : [types.old, types.next]
  const excess =
    wider === null ? narrower && ['any type'] : narrower && [...wider].filter((each) => !narrower.has(each))
  const verb = direction === 'request' ? 'no longer takes' : 'may now be'
  for (const type of excess ?? []) report.breaking.push(`${place} ${verb} ${type}.`)

  const values = { old: valuesOf(old), next: valuesOf(next) }
  if (direction === 'request') {
    const removed =
      values.next === null ? [] : (values.old ?? ['any value']).filter((each) => !values.next?.includes(each))
    for (const value of removed) report.breaking.push(`${place} no longer takes ${value}.`)
  } else {
    const added =
      values.old === null ? [] : (values.next ?? ['any value']).filter((each) => !values.old?.includes(each))
    for (const value of added) report.dangerous.push(`${place} may now be ${value}.`)
  }
  for (const keyword of ['format', 'pattern'] as const) {
    const isDropped = direction === 'request' && next[keyword] === undefined
    if (!isEqual(old[keyword], next[keyword]) && !isDropped)
      report.breaking.push(`${place}: its ${keyword} was changed.`)
  }
  if (direction === 'request' && !isEqual(old.default, next.default))
    report.dangerous.push(`${place}: its default was changed from ${text(old.default)} to ${text(next.default)}.`)
}

/** A request must not be limited more than before, and a response not less. */
function compareLimits(report: Report, place: string, { old, next }: Both<Schema>, direction: Direction): void {
  for (const [bound, keywords] of Object.entries(limitKeywords)) {
    for (const keyword of keywords) {
      const none = bound === 'lower' ? -Infinity : Infinity
      const rise = Number(next[keyword] ?? none) - Number(old[keyword] ?? none)
      // Equal or both without a limit, which makes no number.
      if (rise === 0 || Number.isNaN(rise)) continue
      const isNarrower = bound === 'lower' ? rise > 0 : rise < 0
      const change = `${place}: its ${keyword} was changed from ${text(old[keyword])} to ${text(next[keyword])}.`
      if (direction === 'request' && isNarrower) report.breaking.push(change)
      if (direction === 'response' && !isNarrower) report.dangerous.push(change)
    }
  }
}

function compareProperties(
  comparison: Comparison,
  place: string,
  { old, next }: Both<Schema>,
  direction: Direction,
): void {
  const { report } = comparison
  const properties = { old: propertiesOf(old), next: propertiesOf(next) }
  const required = { old: setOf(old.required), next: setOf(next.required) }
  for (const [name, schema] of Object.entries(properties.old)) {
    const later = properties.next[name]
    const member = `${place}.${name}`
    if (later === undefined) {
      report.breaking.push(`${member} was removed.`)
      continue
    }
    const [was, is] = [required.old?.has(name) ?? false, required.next?.has(name) ?? false]
    if (direction === 'request' && is && !was) report.breaking.push(`${member} is now required.`)
    if (direction === 'response' && was && !is) report.breaking.push(`${member} may now be absent.`)
    compareSchemas(comparison, member, { old: schema, next: later }, direction)
  }
  for (const name of Object.keys(properties.next).filter((each) => !(each in properties.old))) {
    const isRequired = direction === 'request' && required.next?.has(name)
    if (isRequired) report.breaking.push(`${place}.${name} was added and is required.`)
    else report.compatible.push(`${place}.${name} was added.`)
  }
}

/** Compares alternatives by their names or types. */
function compareAlternatives(
  comparison: Comparison,
  place: string,
  { old, next }: Both<Schema>,
  direction: Direction,
): void {
  for (const keyword of ['oneOf', 'anyOf'] as const) {
    const byKey = (schema: Schema) =>
      new Map(((schema[keyword] as Schema[] | undefined) ?? []).map((each) => [alternativeKey(each), each]))
    const [before, after] = [byKey(old), byKey(next)]
    for (const [key, schema] of before) {
      const later = after.get(key)
      if (later) compareSchemas(comparison, `${place} as ${key}`, { old: schema, next: later }, direction)
      else if (direction === 'request') comparison.report.breaking.push(`${place} no longer takes ${key}.`)
    }
    for (const key of after.keys()) {
      if (before.has(key)) continue
      const isWider = direction === 'response' || before.size > 0
      const change = `${place} may now be ${key}.`
      comparison.report[direction === 'response' ? 'dangerous' : isWider ? 'compatible' : 'breaking'].push(change)
    }
  }
}

function alternativeKey(schema: Schema): string {
  return referencedName(schema) ?? (schema.type === undefined ? text(schema) : String(schema.type))
}

/** Follows a reference, and merges `allOf` into one schema: all properties, and the values that every part allows. */
function resolve(schema: Schema, document: OpenApi): Schema {
  const { allOf, ...own } = dereference<Schema>(schema, document)
  if (!Array.isArray(allOf)) return own
  return [own, ...allOf.map((each: Schema) => resolve(each, document))].reduce((merged, part) =>
    merge(merged, part, document),
  )
}

function merge(one: Schema, other: Schema, document: OpenApi): Schema {
  const [first, second] = [propertiesOf(one), propertiesOf(other)]
  const both = Object.entries(second).map(([name, schema]) => {
    const existing = first[name]
    return [name, existing ? merge(resolve(existing, document), resolve(schema, document), document) : schema]
  })
  const values = [valuesOf(one), valuesOf(other)].filter((each) => each !== null)
  const allowed =
    values.length === 0 ? null : values.reduce((kept, each) => kept.filter((value) => each.includes(value)))
  const required = [...(setOf(one.required) ?? []), ...(setOf(other.required) ?? [])]
  return {
    ...one,
    ...other,
    ...((one.properties ?? other.properties) !== undefined && {
      properties: { ...first, ...Object.fromEntries(both) },
    }),
    ...(required.length > 0 && { required }),
    ...(allowed !== null && { enum: allowed.map((value) => JSON.parse(value)), const: undefined }),
  }
}

function dereference<Part>(part: object, document: OpenApi): Part {
  const { $ref } = part as { $ref?: string }
  if ($ref === undefined) return part as Part
  const path = $ref.replace(/^#\//, '').split('/')
  const target = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)
  if (target === undefined) throw new Error(`There is no ${$ref}.`)
  return dereference(target as object, document)
}

function referencedName({ $ref }: Schema): string | null {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : null
}

function propertiesOf({ properties }: Schema): Readonly<Record<string, Schema>> {
  return (properties ?? {}) as Record<string, Schema>
}

/** The values of `enum` or `const` as JSON; `null` for any. */
function valuesOf({ enum: values, const: value }: Schema): string[] | null {
  if (value !== undefined) return [text(value)]
  return Array.isArray(values) ? values.map(text) : null
}

function setOf(value: unknown): ReadonlySet<string> | null {
  if (value === undefined) return null
  return new Set((Array.isArray(value) ? value : [value]).map(String))
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

function isEqual(one: unknown, other: unknown): boolean {
  return text(one) === text(other)
}

function text(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value)
}
