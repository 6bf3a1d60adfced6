import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import type { TextColumns } from '../../src/cli/format-text.ts'
import { formatText } from '../../src/cli/format-text.ts'
import { payoutColumns } from '../../src/cli/list-columns.ts'

const stream = Object.assign(new PassThrough(), { isTTY: true, getColorDepth: () => 4 }) as unknown as WriteStream

const onTerminal = (result: unknown, width: number, columns: TextColumns = {}) =>
  formatText(result, { columns, terminal: { stream, width } })
const onPipe = (result: unknown) => formatText(result, { columns: payoutColumns, terminal: undefined })

const payout = {
  id: '01a2061b-51ce-74e0-ad2b-f88eb5ae3293',
  transactionId: 'ZK5J3GR7KE',
  status: 'COMPLETED',
  createdAt: '2026-11-23T06:53:03.438Z',
  assetCode: 'USDC',
  amount: '1234567.50000000',
  fee: '0.68750000',
  recipientCurrency: 'NGN',
  amountFiat: '42042.00000000',
  recipientName: 'Ada Obi',
  customerId: null,
}
const payouts = [
  payout,
  { ...payout, status: 'FAILED', amount: '2.00000000', recipientName: '王小明貿易有限公司深圳分公司' },
]

describe('a list on a terminal', () => {
  test.each([60, 80, 100, 120, 160])(
    'of %i columns has one line for each row, and no line is wider than the terminal',
    (width) => {
      const plain = stripVTControlCharacters(onTerminal({ payouts }, width, payoutColumns))
        .trimEnd()
        .split('\n')
      expect(plain.filter((line) => line.includes('ZK5J3GR7KE'))).toHaveLength(2)
      expect(plain.filter((line) => stringWidth(line) > width)).toEqual([])
    },
  )

  test('keeps the most important columns, shortens long names, and lists the omitted columns', () => {
    const plain = stripVTControlCharacters(onTerminal(payouts, 80, payoutColumns))
    expect(plain).toContain('transaction  status     created            asset        amount  recipient\n')
    expect(plain).toContain('ZK5J3GR7KE   COMPLETED  2026-11-23 06:53Z  USDC   1,234,567.50  Ada Obi\n')
    expect(plain).toContain('ZK5J3GR7KE   FAILED     2026-11-23 06:53Z  USDC           2.00  王小明貿易有限…\n')
    expect(plain.replaceAll('\n', ' ')).toContain(
      'Not shown without --wide: id, fee, recipientCurrency, amountFiat, customerId',
    )
  })

  test('shows every column in full with --wide', () => {
    const plain = stripVTControlCharacters(onTerminal(payouts, Infinity, payoutColumns))
    for (const text of [payout.id, payout.createdAt, '42,042.00', '0.6875', '王小明貿易有限公司深圳分公司'])
      expect(plain).toContain(text)
    expect(plain).not.toContain('Not shown')
  })

  test('aligns columns after wide and combining characters', () => {
    const names = ['Zoë'.normalize('NFD'), '王小明', 'Ada Obi', '👩‍👩‍👧 Ltd']
    const lines = onTerminal(
      names.map((name) => ({ name, next: '|' })),
      80,
    )
      .split('\n')
      .slice(1, -1)
    expect(new Set(lines.map((line) => stringWidth(line)))).toEqual(new Set([10]))
  })

  test('colours only statuses', () => {
    const text = onTerminal(
      [{ status: 'COMPLETED' }, { status: 'PROCESSING' }, { status: 'FAILED' }, { status: 'X' }],
      80,
    )
    expect(text).toContain(
      '\u001b[32mCOMPLETED\u001b[39m\n\u001b[33mPROCESSING\u001b[39m\n\u001b[31mFAILED\u001b[39m\nX\n',
    )
    expect(onTerminal([{ name: 'FAILED' }], 80)).toContain('\nFAILED\n')
  })

  test('adds no digit separators to account numbers and identifiers', () => {
    const rows = [{ accountNumber: '0690000032', sequence: 1234567, count: 1234567 }]
    const plain = stripVTControlCharacters(onTerminal(rows, 80, { sequence: { align: 'left' } }))
    expect(plain).toContain('0690000032     1234567   1,234,567\n')
  })

  test('wraps the text of a column with the option `isWrapped`', () => {
    const rows = [{ check: 'disk', message: 'Only a few bytes are free on the disk of the database.' }]
    const plain = stripVTControlCharacters(onTerminal(rows, 40, { message: { isWrapped: true } }))
    expect(plain).toBe('check  message\ndisk   Only a few bytes are free on the\n       disk of the database.\n')
  })
})

describe('a list that is written to a pipe', () => {
  test('has every column with unchanged values, without colours', () => {
    const [header = '', first = ''] = onPipe(payouts).split('\n')
    expect(header.split(/ {2,}/)).toEqual(Object.keys(payout))
    expect(first.split(/ {2,}/)).toEqual(Object.values(payout).map((value) => value ?? '-'))
    expect(onPipe(payouts)).not.toContain('\u001b')
  })
})

describe('hostile text', () => {
  const hostile = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp\r\nx\ud800'

  test.each([
    ['a list on a terminal', onTerminal([{ name: hostile }], 200)],
    ['a list in a pipe', onPipe([{ name: hostile }])],
    ['a record', onTerminal({ name: hostile, inner: { name: hostile }, many: [hostile] }, 200)],
    ['a text', onPipe(hostile)],
    ['a value within a cell', onPipe([{ attempts: [{ answer: hostile }] }])],
  ])('is escaped in %s', (_, text) => {
    expect(stripVTControlCharacters(text)).toContain(
      '\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202egnp\\u000d\\u000ax\\ud800',
    )
    // Colours and line breaks come from the CLI.
    const rest = text.replaceAll('\u001b[1m', '').replaceAll('\u001b[22m', '').replaceAll('\n', '')
    expect(rest).not.toMatch(/[\p{Cc}\p{Cs}\u202e]/u)
  })
})

test('a list prints the objects in a cell as field names with values', () => {
  expect(onPipe([{ attempts: [{ status: 500, error: null }, { status: 200 }] }])).toBe(
    'attempts\nstatus 500, status 200\n',
  )
})
