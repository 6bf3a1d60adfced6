import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvCell, csvLine } from '../../src/exports/csv.ts'

/** What OWASP names, on keyboards and in full width: no cell of text may begin so for whoever opens it. */
const dangerous = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']

/** Reads RFC 4180 with as little code as that takes; quotes stand at the ends of a cell or twice in it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  const cell = /("(?:[^"]|"")*"|[^,"\r\n]*)(,|\r\n|$)/y
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text)
    if (!found) throw new Error(`no cell at ${cell.lastIndex}`)
    const [, given = '', end] = found
    rows.at(-1)?.push(given.startsWith('"') ? given.slice(1, -1).replaceAll('""', '"') : given)
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

/** As the documentation tells readers: one apostrophe goes where what follows would be taken for a formula. */
function textOf(read: string): string {
  const rest = read.slice(1)
  const isGuarded = read.startsWith("'") && beginsLikeFormula(rest)
  return isGuarded ? rest : read
}

function beginsLikeFormula(text: string): boolean {
  const [first = ''] = text.replace(/^[\s\p{Cf}'"]+/u, '')
  return dangerous.includes(first) || /^'*[\t\r\n]/.test(text)
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom(...dangerous, "'", '"', ' ', '\u00a0', '\u200b', '\ufeff', ',', ';', 'A1', '1', '|'), {
      maxLength: 8,
    })
    .map((parts) => parts.join('')),
)

test('whatever callers write comes back from the file', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (cells) => {
      const [row = []] = readCsv(csvLine(cells))
      expect(row.map(textOf)).toEqual(cells)
    }),
    { numRuns: 2_000 },
  )
})

test('no cell of text begins like a formula', () => {
  fc.assert(
    fc.property(text, (written) => {
      const [[read = ''] = []] = readCsv(csvLine([written, 'x']))
      const visible = read.replace(/^[\s\p{Cf}"]+/u, '')
      expect(dangerous).not.toContain(visible.charAt(0))
      expect(['\t', '\r', '\n']).not.toContain(read.charAt(0))
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['=HYPERLINK("https://example.com","Refund")', `"'=HYPERLINK(""https://example.com"",""Refund"")"`],
  ['@SUM(1+1)', "'@SUM(1+1)"],
  ['-2+3', "'-2+3"],
  ['＝1+1', "'＝1+1"],
  [' =1', "' =1"],
  ["'=1", "''=1"],
  ['Ada - Obi', 'Ada - Obi'],
  ["'t Hart", "'t Hart"],
])('%s is written as %s', (given, written) => {
  expect(csvCell(given)).toBe(written)
})

test('amounts are numbers, also below zero', () => {
  expect(csvLine([-2_650_000_000n, 5n, null, 12])).toBe('-26.50000000,0.00000005,,12\r\n')
})
