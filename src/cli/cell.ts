import { forbiddenText } from '../core/input.ts'

const everyForbidden = new RegExp(forbiddenText, 'gu')

/** Escapes what would control a terminal or hide text on it, such as the body of a webhook's response. */
export function visible(text: string): string {
  return text.replace(everyForbidden, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A value of a result on one line. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : value.map(cell).join(', ')
  if (typeof value !== 'object') return visible(String(value))
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return members.map(([name, member]) => `${name} ${cell(member)}`).join(' ')
}

const amount = /^-?\d+\.\d{8}$/

/** Whether all values of a column are numbers or amounts, which have eight places. */
export function areNumbers(values: readonly unknown[]): boolean {
  const present = values.filter((value) => value !== null && value !== undefined)
  return present.length > 0 && present.every((value) => typeof value === 'number' || amount.test(String(value)))
}

/** Numbers for people: thousands in groups, without the zeros that all decimal places of the column end in. */
export function grouped(values: readonly unknown[]): string[] {
  const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text)
  const texts = values.map(cell)
  const places = Math.max(2, ...texts.filter(isNumber).map((text) => (/\.(\d*?)0*$/.exec(text)?.[1] ?? '').length))
  return texts.map((text) => {
    if (!isNumber(text)) return text
    const [whole = '', fraction] = text.split('.')
    const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',')
    return fraction === undefined ? groups : `${groups}.${fraction.slice(0, places)}`
  })
}

/** Times to the minute, which is what fits. */
export function toTheMinute(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/, '$1 $2Z')
}

type Colour = 'green' | 'yellow' | 'red' | 'gray'

const colours: Readonly<Record<Colour, readonly string[]>> = {
  green: ['completed', 'active', 'enabled', 'delivered', 'in_force', 'ok', 'pass', 'credited'],
  yellow: ['processing', 'pending', 'queued', 'submitting', 'accepted', 'unknown', 'future', 'detected', 'warning'],
  red: ['failed', 'returned', 'rejected', 'attention', 'disabled', 'exhausted', 'fault', 'fail'],
  gray: ['closed', 'cancelled', 'past', 'deleted', 'dismissed'],
}

/** The colour of a status; none for any other value. */
export function colourOf(field: string, text: string): Colour | undefined {
  if (!['status', 'payoutStatus', 'state', 'result'].includes(field)) return undefined
  const found = Object.entries(colours).find(([, statuses]) => statuses.includes(text.toLowerCase()))
  return found?.[0] as Colour | undefined
}
