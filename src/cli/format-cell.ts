import { forbiddenCharacterPattern } from '../core/input.ts'

const forbiddenCharacters = new RegExp(forbiddenCharacterPattern, 'gu')

/** Escapes characters that control a terminal or hide text. */
export function escapeControlCharacters(text: string): string {
  return text.replace(forbiddenCharacters, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : value.map(formatCell).join(', ')
  if (typeof value !== 'object') return escapeControlCharacters(String(value))
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return members.map(([name, member]) => `${name} ${formatCell(member)}`).join(' ')
}

const amountPattern = /^-?\d+\.\d{8}$/

export function areNumbers(values: readonly unknown[]): boolean {
  const present = values.filter((value) => value !== null && value !== undefined)
  return present.length > 0 && present.every((value) => typeof value === 'number' || amountPattern.test(String(value)))
}

/** Adds thousands separators. Removes the trailing zeros that all numbers of a column have in common. */
export function formatNumbers(values: readonly unknown[]): string[] {
  const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text)
  const texts = values.map(formatCell)
  const places = Math.max(2, ...texts.filter(isNumber).map((text) => (/\.(\d*?)0*$/.exec(text)?.[1] ?? '').length))
  return texts.map((text) => {
    if (!isNumber(text)) return text
    const [whole = '', fraction] = text.split('.')
    const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',')
    return fraction === undefined ? groups : `${groups}.${fraction.slice(0, places)}`
  })
}

export function truncateToMinute(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/, '$1 $2Z')
}

type StatusColour = 'green' | 'yellow' | 'red' | 'gray'

const statusColours: Readonly<Record<StatusColour, readonly string[]>> = {
  green: ['completed', 'active', 'enabled', 'delivered', 'in_force', 'ok', 'pass', 'credited'],
  yellow: ['processing', 'pending', 'queued', 'submitting', 'accepted', 'unknown', 'future', 'detected', 'warning'],
  red: ['failed', 'returned', 'rejected', 'attention', 'disabled', 'suspended', 'exhausted', 'fault', 'fail'],
  gray: ['closed', 'cancelled', 'past', 'deleted', 'dismissed'],
}

export function statusColourOf(field: string, text: string): StatusColour | undefined {
  if (!['status', 'payoutStatus', 'state', 'result'].includes(field)) return undefined
  const entry = Object.entries(statusColours).find(([, statuses]) => statuses.includes(text.toLowerCase()))
  return entry?.[0] as StatusColour | undefined
}
