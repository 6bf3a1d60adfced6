import { z } from 'zod'
import type { FieldError, FieldErrorCode } from './errors.ts'
import { invalidInput } from './errors.ts'
import { parseUuid, timestamp } from './ids-and-clock.ts'
import { describeInvalidAmount, parseAmount } from './money/amount.ts'

/** The maximum length in code points of a text that has no limit in the API contract (ruling 21). */
const defaultMaxLength = 255

// Timestamps with four-digit years sort as text.
const minTimeMs = Date.parse('0001-01-01T00:00:00.000Z')
const maxTimeMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * @param otherErrors errors that the operation has found itself
 * @throws DomainError INVALID_INPUT with every invalid field
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  otherErrors: readonly FieldError[] = [],
): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true })
  const errors = [...(parsed.error?.issues.map(toFieldError) ?? []), ...otherErrors]
  if (!parsed.success || errors.length > 0) throw invalidInput(errors)
  return parsed.data
}

/** See ruling 20. */
export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== '')
}

export function findFieldErrors(schema: z.ZodType, input: unknown): FieldError[] {
  return schema.safeParse(input, { reportInput: true }).error?.issues.map(toFieldError) ?? []
}

/**
 * Clients can check a text against this rule before they send the text. `maxLength` is in code points. `pattern` is a
 * regular expression with the flag `u` or `v`. A text obeys the rule if and only if the schema accepts the text.
 */
export type TextRule = { readonly maxLength: number; readonly pattern: string }

export const textRules = z.registry<TextRule>()

/**
 * The resulting text is in NFC, trimmed and not empty. The result has at most `limit` code points and no control
 * characters (ruling 21).
 */
export const text = (limit = defaultMaxLength) =>
  z
    .string()
    .transform((value, context) => {
      const cleaned = normalizeText(value, limit)
      if (cleaned === '') return rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')
      return checkText(cleaned, limit, context)
    })
    .register(textRules, { maxLength: limit, pattern: requiredPattern(wordsPattern) })

export const optionalText = (limit = defaultMaxLength) =>
  z
    .string()
    .nullish()
    .transform((value, context) => checkOptionalText(value ?? '', limit, context))
    .register(textRules, { maxLength: limit, pattern: optionalPattern(wordsPattern) })

/** Replaces line breaks and tabs by spaces (ruling 21). */
export const freeText = (limit = defaultMaxLength) =>
  z
    .string()
    .transform(joinLines)
    .pipe(text(limit))
    .register(textRules, { maxLength: limit, pattern: requiredPattern(linesPattern) })

export const optionalFreeText = (limit = defaultMaxLength) =>
  z
    .string()
    .nullish()
    .transform((value, context) => checkOptionalText(joinLines(value ?? ''), limit, context))
    .register(textRules, { maxLength: limit, pattern: optionalPattern(linesPattern) })

/** An identifier such as an account number: at most 64 letters, digits, spaces and `. / _ -` (ruling 23). */
export const identifier = () =>
  text(64)
    .transform(checkIdentifier)
    .register(textRules, { maxLength: 64, pattern: requiredPattern(identifierPattern) })

export const optionalIdentifier = () =>
  optionalText(64)
    .transform((value, context) => (value === null ? null : checkIdentifier(value, context)))
    .register(textRules, { maxLength: 64, pattern: optionalPattern(identifierPattern) })

export const asciiWord = (limit: number) =>
  text(limit)
    .transform((value, context) =>
      /^[\x21-\x7e]+$/.test(value)
        ? value
        : rejectField(context, 'INVALID_FORMAT', 'must contain only printable ASCII characters, without spaces'),
    )
    .register(textRules, { maxLength: limit, pattern: requiredPattern(String.raw`[!-~\u037e\u1fef\u212a]+`) })

export const oneOf = <const Values extends readonly string[]>(values: Values) => z.enum(values)

export const optionalOneOf = <const Values extends readonly string[]>(values: Values) =>
  z
    .preprocess((value) => (value === '' ? null : normalizeCase(values, value)), oneOf(values).nullish())
    .transform((value) => value ?? null)

export function normalizeCase<Input>(values: readonly string[], input: Input): Input | string {
  return typeof input === 'string'
    ? (values.find((value) => value.toLowerCase() === input.toLowerCase()) ?? input)
    : input
}

/** The resulting list has no duplicates, and is in the order of `values`. */
export const someOf = <const Values extends readonly string[]>(values: Values) =>
  z.array(z.string()).transform((input, context): Values[number][] => {
    if (input.length > 0 && input.every((each) => values.includes(each))) {
      return values.filter((value) => input.includes(value))
    }
    return rejectField(context, 'INVALID_PARAMETER', `must be some of ${values.join(', ')}`)
  })

export const uuid = () =>
  z.string().transform((value, context) => parseUuid(value) ?? rejectField(context, 'INVALID_FORMAT', 'must be a UUID'))

/** An empty id is rejected, because the operation could otherwise act for the wrong owner (ruling 20). */
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
 * An empty id is valid for payout methods, as the API contract defines (ruling 20). An empty id of a payout method
 * cannot cause a wrong payment, because payout methods move no money.
 */
export const optionalUuidOrEmpty = () => z.preprocess((value) => (isBlank(value) ? null : value), optionalUuid())

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

/**
 * Returns a UUID in lower case. Returns any other text unchanged. A text that is not a UUID matches no row (ruling 5).
 */
export const lookupId = () => z.string().transform((value) => parseUuid(value) ?? value)

/** Accepts a time in ISO 8601 with an offset. The resulting time is in UTC, rounded up to milliseconds. */
export const instant = () =>
  z.iso.datetime({ offset: true }).transform((value, context) => {
    const isFraction = /\.\d{3}\d*[1-9]/.test(value)
    const time = Date.parse(value) + (isFraction ? 1 : 0)
    if (Number.isNaN(time)) return rejectField(context, 'INVALID_FORMAT', 'must be a date and time')
    return timestamp(Math.min(Math.max(time, minTimeMs), maxTimeMs))
  })

/** Also accepts a date, which is converted to the start of the day in UTC. */
export const dayOrInstant = () =>
  z
    .string()
    .transform((text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text))
    .pipe(instant())

/** The exclusive end of a period. A date is converted to the end of the day in UTC. */
export const endDayOrInstant = () =>
  z
    .string()
    .transform((text) => {
      const start = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
      // `Date.parse` also accepts invalid dates, for example 2026-02-30.
      return Number.isNaN(start) || !timestamp(start).startsWith(text)
        ? text
        : timestamp(Math.min(start + 24 * 60 * 60 * 1_000, maxTimeMs))
    })
    .pipe(instant())

/** See ruling 36. */
export const positiveAmount = () =>
  z.string().transform((value, context) => {
    if (value === '') return rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')
    const amount = parseAmount(value)
    if (amount !== null && amount > 0n) return amount
    return rejectField(context, 'INVALID_FORMAT', describeInvalidAmount(value))
  })

/** Converts an absent, null or empty value to `null` (ruling 20). */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullish()).transform((value) => value ?? null)

/** `createdFrom` is inclusive, and `createdBefore` is exclusive. */
export const createdRangeFields = { createdFrom: optional(instant()), createdBefore: optional(instant()) }

/** Accepts a number or a string of decimal digits (ruling 15). An empty string counts as absent (ruling 20). */
export const page = () => positiveInteger(Number.MAX_SAFE_INTEGER, 1, 'must be an integer of at least 1')

/** Section 8 of the API contract defines the maximum number of items per page. */
export const limit = (standard: number) => positiveInteger(100, standard, 'must be an integer from 1 to 100')

export const searchLimit = () => positiveInteger(50, 20, 'must be an integer from 1 to 50')

export function sentFields<Parsed extends object>(input: object, parsed: Parsed): Partial<Parsed> {
  const sent = input as Record<string, unknown>
  return Object.fromEntries(Object.entries(parsed).filter(([name]) => sent[name] !== undefined)) as Partial<Parsed>
}

/**
 * Parses an idempotency key (ruling 22). Removes surrounding spaces, one pair of quotes, and spaces inside the quotes.
 * Keeps backslash escapes, because processing them would change the meaning of stored keys.
 *
 * @param field the field name for errors
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

export function rejectField(context: z.RefinementCtx, code: FieldErrorCode, message: string): never {
  context.addIssue({ code: 'custom', message, params: { code } })
  return z.NEVER
}

export function notOneOfError(field: string, allowed: readonly string[]): FieldError {
  return { field, code: 'INVALID_PARAMETER', message: `must be one of ${allowed.join(', ')}` }
}

/**
 * Control characters and bidirectional overrides can change how a text is displayed. PostgreSQL rejects NUL and lone
 * surrogates.
 */
export const forbiddenCharacterPattern = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

// The text patterns also match U+037E, U+1FEF and U+212A, because NFC converts these characters to ASCII. A run of
// spaces matches in only one way, which prevents catastrophic backtracking.
const visibleRunPattern = String.raw`[^\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+`
const wordsPattern = String.raw`${visibleRunPattern}(?:(?:(?!\p{Cc})\s)+${visibleRunPattern})*`
const linesPattern = String.raw`${visibleRunPattern}(?:(?:(?!\p{Cc})\s|[\t\n\r])+${visibleRunPattern})*`
const identifierPattern = String.raw`[\w.\/\-\u212a]+(?: +[\w.\/\-\u212a]+)*`
const requiredPattern = (pattern: string) => String.raw`^\s*${pattern}\s*$`
const optionalPattern = (pattern: string) => String.raw`^\s*(?:${pattern}\s*)?$`

/**
 * A malicious text can make the conversion take quadratic time, so an excessively long text is not converted. NFC
 * composes a code point from at most four code points, which have at most eight UTF-16 units.
 */
function normalizeText(value: string, limit: number): string {
  const trimmed = value.trim()
  return trimmed.length > limit * 8 ? trimmed : trimmed.normalize('NFC').trim()
}

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
  // A text never has more code points than UTF-16 units, so code points are counted only for long texts.
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

function positiveInteger(max: number, standard: number, message: string) {
  return z
    .unknown()
    .optional()
    .transform((value, context) => {
      if (value === undefined || value === '') return standard
      const isPlain = (typeof value === 'string' || typeof value === 'number') && /^[1-9]\d{0,15}$/.test(String(value))
      if (isPlain && Number(value) <= max) return Number(value)
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
  const isFormat = issue.code === 'invalid_type' || issue.code === 'invalid_format'
  return { field, code: isFormat ? 'INVALID_FORMAT' : 'INVALID_PARAMETER', message: describeIssue(issue) }
}

/** zod's error messages are written for programmers, and change between versions of zod. */
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

const boundPhrases: Readonly<Record<string, string>> = { string: 'have a length of', array: 'have a length of' }
