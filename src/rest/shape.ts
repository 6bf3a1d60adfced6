import { escaped } from '../core/net/escaped.ts'
import type { Form } from './forms.ts'
import { oneOf, saying, text, unquoted } from './forms.ts'

/** The form of an object. */
export type Shape<Row> = Form<Row> & { readonly write: (row: Row) => string }

/** The members of an object by their names on the wire. */
export type Members<Row> = { readonly [name: string]: Member<Row> }

/** A member of an object that is made of a row: what of the row it tells, and in which form; or the whole row in a form. */
export type Member<Row> = Sourced<Row> | Form<Row>
type Sourced<Row> = {
  readonly read: (row: Row) => unknown
  readonly form: Form<never>
  readonly isOptional?: boolean
}

/** What of a row a member tells. */
export const from = <Row, Value>(read: (row: Row) => NoInfer<Value>, form: Form<Value>): Sourced<Row> => ({
  read,
  form,
})

/** The same where that can be null. */
export function orNull<Row, Value>(read: (row: Row) => NoInfer<Value> | null, form: Form<Value>): Sourced<Row> {
  const { type, enum: values, ...schema } = form.schema
  const types = { type: [String(type), 'null'], ...(values && { enum: [...values, null] }) }
  return { read, form: { ...form, schema: { ...schema, ...types } } }
}

/** The same where null is what readers are shown. */
export const mostlyNull: typeof orNull = (read, form) => orNull(read, saying(form, { examples: [null] }))

/** What is the same in every answer. */
export const always = (description: string, value: string): Member<unknown> =>
  from(() => value, oneOf(description, [value]))

/** What the answer says to people, where that is always the same. */
export const message = (said: string): Member<unknown> => from(() => said, text('A sentence for people.', said))

/** What some rows lack. */
export const optional = <Row, Value>(
  read: (row: Row) => NoInfer<Value> | undefined,
  form: Form<Value>,
): Sourced<Row> => ({ read, form, isOptional: true })

/**
 * An object of these members, in this order, and no others. A row of which a member tells nothing, such as an answer that was
 * remembered before there was that member, is told without it.
 */
export function shape<Row>(description: string, members: Members<Row>): Shape<Row> {
  const all = Object.entries(members).map(([name, member]) => ({ name, ...sourced(member) }))
  const schema = {
    type: 'object',
    description,
    properties: Object.fromEntries(all.map(({ name, form }) => [name, form.schema])),
    required: all.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    additionalProperties: false as const,
  }
  return unquoted(schema, writerOf(all))
}

/** The same under a name by which the reference refers to it. */
export const resource = <Row>(title: string, description: string, members: Members<Row>): Shape<Row> =>
  saying(shape(description, members), { title })

/** One of several resources, of which the row's `type` says which. */
export function byType<Row extends { readonly type: string }>(
  title: string,
  description: string,
  shapes: { readonly [Type in Row['type']]: Shape<Row & { readonly type: Type }> },
): Shape<Row> {
  const oneOf = Object.values<Form<never>>(shapes).map(({ schema }) => schema)
  return unquoted({ title, description, oneOf }, (row) => shapes[row.type as Row['type']].write(row))
}

export const listOf = <Row>(description: string, { schema: items, write }: Shape<Row>): Form<readonly Row[]> =>
  unquoted({ type: 'array', description, items }, (rows) => {
    // To join them takes a seventh longer, because that copies what is copied again when it is sent.
    let text = ''
    for (const row of rows) text += text === '' ? write(row) : `,${write(row)}`
    return `[${text}]`
  })

/** A shape that is itself a member is made of the whole row. */
function sourced<Row>(member: Member<Row>): Sourced<Row> {
  return 'read' in member ? member : { read: (row) => row, form: member }
}

type Named<Row> = Sourced<Row> & { readonly name: string }

/**
 * What writes a row as JSON text, at once and without an object of the members in between: all that is the same in every row
 * is made here. Quotation marks are written with what comes after or before them, because each text that is added takes time.
 */
function writerOf<Row>(members: readonly Named<Row>[]): (row: Row) => string {
  const parts = members.map(partOf)
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
      else if (part.write === escaped) text += escaped(value as string)
      else text += part.write(value as never)
      isOpen = part.isText
    }
    // The comma before what should have been the second.
    const members = isFirstThere ? text : `{${text.slice(1)}`
    return isOpen ? `${members}"}` : `${members}}`
  }
}

/** A member with what leads to its value, or says that there is none, where the text before it is closed and where it is not. */
function partOf<Row>({ name, read, form: { isText, write } }: Named<Row>, index: number) {
  const key = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
  const lead = isText ? `${key}"` : key
  const nothing = `${key}null`
  return { read, write, isText, lead, leadAfterText: `"${lead}`, nothing, nothingAfterText: `"${nothing}` }
}
