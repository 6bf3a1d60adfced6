import { escapeJsonString } from '../core/net/escape-json.ts'
import type { JsonType } from './json-types.ts'
import { oneOf, text, unquotedType, withSchema } from './json-types.ts'

/** The form of an object. */
export type Shape<Row> = JsonType<Row> & { readonly write: (row: Row) => string }

/** The members of an object by their names on the wire. */
export type ShapeMembers<Row> = { readonly [name: string]: ShapeMember<Row> }

/** A member of an object that is made of a row: what of the row it tells, and in which form; or the whole row in a form. */
export type ShapeMember<Row> = SourcedMember<Row> | JsonType<Row>
type SourcedMember<Row> = {
  readonly read: (row: Row) => unknown
  readonly type: JsonType<never>
  readonly isOptional?: boolean
}

/** What of a row a member tells. */
export const member = <Row, Value>(read: (row: Row) => NoInfer<Value>, form: JsonType<Value>): SourcedMember<Row> => ({
  read,
  type: form,
})

/** The same where that can be null. */
export function nullable<Row, Value>(
  read: (row: Row) => NoInfer<Value> | null,
  form: JsonType<Value>,
): SourcedMember<Row> {
  const { type, enum: values, ...schema } = form.schema
  const types = { type: [String(type), 'null'], ...(values && { enum: [...values, null] }) }
  return { read, type: { ...form, schema: { ...schema, ...types } } }
}

/** The same where null is what readers are shown. */
export const nullInExample: typeof nullable = (read, form) => nullable(read, withSchema(form, { examples: [null] }))

/** What is the same in every answer. */
export const constant = (description: string, value: string): ShapeMember<unknown> =>
  member(() => value, oneOf(description, [value]))

/** What the answer says to people, where that is always the same. */
export const constantMessage = (said: string): ShapeMember<unknown> =>
  member(() => said, text('A sentence for people.', said))

/** What some rows lack. */
export const optional = <Row, Value>(
  read: (row: Row) => NoInfer<Value> | undefined,
  form: JsonType<Value>,
): SourcedMember<Row> => ({ read, type: form, isOptional: true })

/**
 * An object of these members, in this order, and no others. A row of which a member tells nothing, such as an answer that was
 * remembered before there was that member, is told without it.
 */
export function shape<Row>(description: string, members: ShapeMembers<Row>): Shape<Row> {
  const all = Object.entries(members).map(([name, member]) => ({ name, ...toSourcedMember(member) }))
  const schema = {
    type: 'object',
    description,
    properties: Object.fromEntries(all.map(({ name, type: form }) => [name, form.schema])),
    required: all.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    additionalProperties: false as const,
  }
  return unquotedType(schema, compileWriter(all))
}

/** The same under a name by which the reference refers to it. */
export const resource = <Row>(title: string, description: string, members: ShapeMembers<Row>): Shape<Row> =>
  withSchema(shape(description, members), { title })

/** One of several resources, of which the row's `type` says which. */
export function unionByType<Row extends { readonly type: string }>(
  title: string,
  description: string,
  shapes: { readonly [Type in Row['type']]: Shape<Row & { readonly type: Type }> },
): Shape<Row> {
  const oneOf = Object.values<JsonType<never>>(shapes).map(({ schema }) => schema)
  return unquotedType({ title, description, oneOf }, (row) => shapes[row.type as Row['type']].write(row))
}

export const listOf = <Row>(description: string, { schema: items, write }: Shape<Row>): JsonType<readonly Row[]> =>
  unquotedType({ type: 'array', description, items }, (rows) => {
    // To join them takes a seventh longer, because that copies what is copied again when it is sent.
    let text = ''
    for (const row of rows) text += text === '' ? write(row) : `,${write(row)}`
    return `[${text}]`
  })

/** A shape that is itself a member is made of the whole row. */
function toSourcedMember<Row>(member: ShapeMember<Row>): SourcedMember<Row> {
  return 'read' in member ? member : { read: (row) => row, type: member }
}

type NamedMember<Row> = SourcedMember<Row> & { readonly name: string }

/**
 * What writes a row as JSON text, at once and without an object of the members in between: all that is the same in every row
 * is made here. Quotation marks are written with what comes after or before them, because each text that is added takes time.
 */
function compileWriter<Row>(members: readonly NamedMember<Row>[]): (row: Row) => string {
  const parts = members.map(compileMember)
  return (row) => {
    let text = ''
    let isOpen = false
    let isFirstThere = true
    for (const part of parts) {
      const value = part.read(row)
      if (value === undefined) {
        if (text === '') isFirstThere = false
        continue
      }
      if (value === null) {
        text += isOpen ? part.nothingAfterText : part.nothing
        isOpen = false
        continue
      }
      text += isOpen ? part.leadAfterText : part.lead
      // By its name, where it is that one: only then is it made part of this loop, which is a tenth of a page of texts.
      if (part.write === null) text += value
      else if (part.write === escapeJsonString) text += escapeJsonString(value as string)
      else text += part.write(value as never)
      isOpen = part.isText
    }
    // The comma before what should have been the second.
    const members = isFirstThere ? text : `{${text.slice(1)}`
    return isOpen ? `${members}"}` : `${members}}`
  }
}

/** A member with what leads to its value, or says that there is none, where the text before it is closed and where it is not. */
function compileMember<Row>({ name, read, type: { isQuoted: isText, write } }: NamedMember<Row>, index: number) {
  const key = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
  const lead = isText ? `${key}"` : key
  const nothing = `${key}null`
  return { read, write, isText, lead, leadAfterText: `"${lead}`, nothing, nothingAfterText: `"${nothing}` }
}
