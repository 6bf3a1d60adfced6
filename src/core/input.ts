import { z } from 'zod'
import type { FieldError, FieldErrorCode } from './errors.ts'
import { invalidInput } from './errors.ts'
import { parseUuid, timestamp } from './ids-and-clock.ts'
import { parseAmount } from './money/amount.ts'
import { describeInvalidAmount } from './money/invalid-amount.ts'

/** Longest text where the contract gives no other limit, in code points (ruling 21). */
const defaultMaxLength = 255

// Years of four digits, in every offset: text of that form sorts as the moments do.
const minTimeMs = Date.parse('0001-01-01T00:00:00.000Z')
const maxTimeMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads an operation's input, or refuses it with every faulty field at once.
 *
 * @param faults what the operation itself found wrong, such as a value that a table does not list
 * @throws Refusal INVALID_INPUT
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  faults: readonly FieldError[] = [],
): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true })
  const found = [...(parsed.error?.issues.map(toFieldError) ?? []), ...faults]
  if (!parsed.success || found.length > 0) throw invalidInput(found)
  return parsed.data
}

/** Whether a field says anything (ruling 20). */
export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== '')
}

/** Every faulty field of an input, without reading anything that is stored. */
export function findFieldErrors(schema: z.ZodType, input: unknown): FieldError[] {
  return schema.safeParse(input, { reportInput: true }).error?.issues.map(toFieldError) ?? []
}

/**
 * What a text may be, for those who ask before they send it: `maxLength` in code points, and `pattern` as the source of a
 * regular expression with the flag `u` or `v`. Together they take the texts that the schema takes, and no others.
 */
export type TextRule = { readonly maxLength: number; readonly pattern: string }

/** The rule of each schema of text, under the schema itself. */
export const textRules = z.registry<TextRule>()

/** Text as ruling 21 has it: trimmed, NFC, not empty, of at most `limit` code points, without control characters. */
export const text = (limit = defaultMaxLength) =>
  z
    .string()
    .transform((value, context) => {
      const cleaned = normalizeText(value, limit)
      if (cleaned === '') return rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')
      return checkText(cleaned, limit, context)
    })
    .register(textRules, { maxLength: limit, pattern: requiredPattern(wordsPattern) })

/** Text that may be absent, null or empty, all of which mean `null` (ruling 20). */
export const optionalText = (limit = defaultMaxLength) =>
  z
    .string()
    .nullish()
    .transform((value, context) => checkOptionalText(value ?? '', limit, context))
    .register(textRules, { maxLength: limit, pattern: optionalPattern(wordsPattern) })

/** What people write at length: a line break or tab within it becomes a space (ruling 21). */
export const freeText = (limit = defaultMaxLength) =>
  z
    .string()
    .transform(joinLines)
    .pipe(text(limit))
    .register(textRules, { maxLength: limit, pattern: requiredPattern(linesPattern) })

/** The same where it may be absent. */
export const optionalFreeText = (limit = defaultMaxLength) =>
  z
    .string()
    .nullish()
    .transform((value, context) => checkOptionalText(joinLines(value ?? ''), limit, context))
    .register(textRules, { maxLength: limit, pattern: optionalPattern(linesPattern) })

/** An identifier such as an account number: letters, digits and `. / _ -` and spaces, at most 64 (ruling 23). */
export const identifier = () =>
  text(64)
    .transform(checkIdentifier)
    .register(textRules, { maxLength: 64, pattern: requiredPattern(identifierPattern) })

/** The same where it may be absent. */
export const optionalIdentifier = () =>
  optionalText(64)
    .transform((value, context) => (value === null ? null : checkIdentifier(value, context)))
    .register(textRules, { maxLength: 64, pattern: optionalPattern(identifierPattern) })

/** Text of printable ASCII without spaces, such as an address on a network. */
export const asciiWord = (limit: number) =>
  text(limit)
    .transform((value, context) =>
      /^[\x21-\x7e]+$/.test(value)
        ? value
        : rejectField(context, 'INVALID_FORMAT', 'must contain only printable ASCII characters, without spaces'),
    )
    .register(textRules, { maxLength: limit, pattern: requiredPattern(String.raw`[!-~\u037e\u1fef\u212a]+`) })

/** One of a list of values, exactly as written there. */
export const oneOf = <const Values extends readonly string[]>(values: Values) => z.enum(values)

/** One of a list of values, in any case; absent, null or empty mean `null`. */
export const optionalOneOf = <const Values extends readonly string[]>(values: Values) =>
  z
    .preprocess((value) => (value === '' ? null : normalizeCase(values, value)), oneOf(values).nullish())
    .transform((value) => value ?? null)

/** The value of a list that is given in another case; anything else as it is. */
export function normalizeCase<Given>(values: readonly string[], given: Given): Given | string {
  return typeof given === 'string'
    ? (values.find((value) => value.toLowerCase() === given.toLowerCase()) ?? given)
    : given
}

/** Some of a list of values, at least one: each once, and in the list's order. */
export const someOf = <const Values extends readonly string[]>(values: Values) =>
  z.array(z.string()).transform((given, context): Values[number][] => {
    if (given.length > 0 && given.every((each) => values.includes(each))) {
      return values.filter((value) => given.includes(value))
    }
    return rejectField(context, 'INVALID_PARAMETER', `must be some of ${values.join(', ')}`)
  })

/** A UUID in either case. */
export const uuid = () =>
  z.string().transform((value, context) => parseUuid(value) ?? rejectField(context, 'INVALID_FORMAT', 'must be a UUID'))

/**
 * The id that says whose money or thing an operation is about, in either case; absent or null means the merchant itself, or
 * that the service chooses. An empty one is refused: taken for none it would act for another owner (ruling 20).
 */
export const optionalUuid = () =>
  z
    .string()
    .nullish()
    .transform((value, context) => {
      if (value === undefined || value === null) return null
      if (value.trim() === '')
        return rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty: leave it out, or give null')
      return parseUuid(value) ?? rejectField(context, 'INVALID_FORMAT', 'must be a UUID')
    })

/**
 * The same where an empty one means the merchant too, as the contract has it of payout methods (ruling 20): there it moves no
 * money, and what is changed or deleted is named by its own id.
 */
export const optionalUuidOrEmpty = () => z.preprocess((value) => (isBlank(value) ? null : value), optionalUuid())

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

/** The id of what an operation is about, in lower case; what is no id stays as it is, and nothing is found by it (ruling 5). */
export const lookupId = () => z.string().transform((value) => parseUuid(value) ?? value)

/** A moment in ISO 8601 with its offset, as it is stored: UTC, with milliseconds, the next one where it lies between two. */
export const instant = () =>
  z.iso.datetime({ offset: true }).transform((value, context) => {
    const isBetween = /\.\d{3}\d*[1-9]/.test(value)
    const time = Date.parse(value) + (isBetween ? 1 : 0)
    if (Number.isNaN(time)) return rejectField(context, 'INVALID_FORMAT', 'must be a date and time')
    return timestamp(Math.min(Math.max(time, minTimeMs), maxTimeMs))
  })

/** An amount above zero in the form of ruling 36, read exactly. */
export const positiveAmount = () =>
  z.string().transform((value, context) => {
    if (value === '') return rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')
    const amount = parseAmount(value)
    if (amount !== null && amount > 0n) return amount
    return rejectField(context, 'INVALID_FORMAT', describeInvalidAmount(value))
  })

/** Any field that may be absent, null or empty, all of which mean `null` (ruling 20). */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullish()).transform((value) => value ?? null)

/** The fields by which every operation on a list says when its rows were created: from a moment on, and before another. */
export const createdRangeFields = { createdFrom: optional(instant()), createdBefore: optional(instant()) }

/** A positive integer written in plain decimal digits, or given as a number (ruling 15); empty means not given (ruling 20). */
export const page = () => positiveInteger(Number.MAX_SAFE_INTEGER, 1, 'must be an integer of at least 1')

/** A page size from 1 to 100 (contract, section 8). */
export const limit = (standard: number) => positiveInteger(100, standard, 'must be an integer from 1 to 100')

/** The parsed values of those fields that the caller sent, by name: what an update changes. */
export function sentFields<Parsed extends object>(input: object, parsed: Parsed): Partial<Parsed> {
  const given = input as Record<string, unknown>
  return Object.fromEntries(Object.entries(parsed).filter(([name]) => given[name] !== undefined)) as Partial<Parsed>
}

/**
 * The idempotency key that a caller gave under the name `field`, or what is wrong with it (ruling 22): the same text gives the
 * same key at both doors.
 *
 * It is what is left without the spaces around it and one pair of quotes, and without the spaces within these. All else is
 * the key as it is, also where a string of Structured Fields would have a backslash before a quote: a key that was stored
 * must never come to mean another.
 */
export function parseIdempotencyKey(
  field: string,
  text: string,
): { key: string; faults: [] } | { key: null; faults: FieldError[] } {
  const bare = text.trim()
  const [, quoted] = /^"(.*)"$/.exec(bare) ?? []
  const key = quoted === undefined ? bare : quoted.trim()
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return { key, faults: [] }
  const message = 'must be 1 to 255 printable ASCII characters, bare or quoted'
  return { key: null, faults: [{ field, code: 'INVALID_FORMAT', message }] }
}

/** Records a fault of the field under transformation. */
export function rejectField(context: z.RefinementCtx, code: FieldErrorCode, message: string): never {
  context.addIssue({ code: 'custom', message, params: { code } })
  return z.NEVER
}

/** The fault of a value outside a list, which it names. */
export function notOneOfError(field: string, allowed: readonly string[]): FieldError {
  return { field, code: 'INVALID_PARAMETER', message: `must be one of ${allowed.join(', ')}` }
}

/** Control characters, bidirectional overrides and lone surrogates, which can hide what a text says, or break an engine. */
export const forbiddenCharacterPattern = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

// Patterns are of what callers send: spaces around it are trimmed, and NFC makes ASCII of U+037E, U+1FEF and U+212A. A run
// of spaces can be matched in one way only, so that no text takes a pattern long.
const visibleRunPattern = String.raw`[^\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+`
const wordsPattern = String.raw`${visibleRunPattern}(?:(?:(?!\p{Cc})\s)+${visibleRunPattern})*`
const linesPattern = String.raw`${visibleRunPattern}(?:(?:(?!\p{Cc})\s|[\t\n\r])+${visibleRunPattern})*`
const identifierPattern = String.raw`[\w.\/\-\u212a]+(?: +[\w.\/\-\u212a]+)*`
const requiredPattern = (pattern: string) => String.raw`^\s*${pattern}\s*$`
const optionalPattern = (pattern: string) => String.raw`^\s*(?:${pattern}\s*)?$`

/**
 * Trimmed and in NFC. That form takes quadratic time to find for adversarial text, so what can't come out short enough is
 * left as it is and refused for its length: a code point comes of at most four others, of two units each.
 */
function normalizeText(value: string, limit: number): string {
  const trimmed = value.trim()
  return trimmed.length > limit * 8 ? trimmed : trimmed.normalize('NFC').trim()
}

/** CR LF is one line break, and one space. */
function joinLines(value: string): string {
  return value.replace(/\r\n|[\t\n\r]/g, ' ')
}

function checkOptionalText(value: string, limit: number, context: z.RefinementCtx): string | null {
  const cleaned = normalizeText(value, limit)
  return cleaned === '' ? null : checkText(cleaned, limit, context)
}

function checkText(value: string, limit: number, context: z.RefinementCtx): string {
  if (forbiddenCharacterPattern.test(value)) {
    return rejectField(
      context,
      'INVALID_FORMAT',
      'must not contain control characters, bidirectional overrides or lone surrogates',
    )
  }
  // A text of no more UTF-16 units than the limit can't have more code points.
  if (value.length > limit && [...value].length > limit) {
    return rejectField(context, 'INVALID_PARAMETER', `must have at most ${limit} characters`)
  }
  return value
}

function checkIdentifier(value: string, context: z.RefinementCtx): string {
  return /^[A-Za-z0-9 ./_-]+$/.test(value)
    ? value
    : rejectField(context, 'INVALID_FORMAT', 'must contain only letters, digits, spaces and . / _ -')
}

function positiveInteger(most: number, standard: number, message: string) {
  return z
    .unknown()
    .optional()
    .transform((value, context) => {
      if (value === undefined || value === '') return standard
      const isPlain = (typeof value === 'string' || typeof value === 'number') && /^[1-9]\d{0,15}$/.test(String(value))
      if (isPlain && Number(value) <= most) return Number(value)
      return rejectField(context, 'INVALID_PARAMETER', message)
    })
}

function toFieldError(issue: z.core.$ZodIssue): FieldError {
  const field = issue.path.join('.')
  if (issue.code === 'custom') {
    return { field, code: (issue.params?.code as FieldErrorCode) ?? 'INVALID_PARAMETER', message: issue.message }
  }
  const isMissing = issue.input === undefined || issue.input === null || issue.input === ''
  if (isMissing) return { field, code: 'MISSING_REQUIRED_FIELD', message: 'is required' }
  if (issue.code === 'invalid_value') return notOneOfError(field, issue.values.map(String))
  const isOfForm = issue.code === 'invalid_type' || issue.code === 'invalid_format'
  return { field, code: isOfForm ? 'INVALID_FORMAT' : 'INVALID_PARAMETER', message: describeIssue(issue) }
}

/** What is wrong in our own words: zod has some for each code, which are for programmers and change with its version. */
function describeIssue(issue: Exclude<z.core.$ZodIssue, { code: 'custom' | 'invalid_value' }>): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? 'of another type'}`
    case 'invalid_format':
      return `must be ${formatNames[issue.format] ?? 'in another form'}`
    case 'too_small':
      return `must ${boundPhrases[issue.origin] ?? 'be'} at least ${issue.minimum}`
    case 'too_big':
      return `must ${boundPhrases[issue.origin] ?? 'be'} at most ${issue.maximum}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `must not have ${issue.keys.join(', ')}`
    case 'invalid_key':
    case 'invalid_element':
    case 'invalid_union':
      return 'must be in one of the forms that it can have'
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

const formatNames: Readonly<Record<string, string>> = {
  datetime: 'a date and time in ISO 8601 with its offset, such as 2026-01-31T08:30:00Z',
  date: 'a day in ISO 8601, such as 1990-01-31',
}

/** How a bound of something that is no number is said; `be` suits a number. */
const boundPhrases: Readonly<Record<string, string>> = { string: 'have a length of', array: 'have a length of' }
