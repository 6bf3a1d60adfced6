import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvCell, csvLine } from '../../../src/modules/exports/export-formats.ts'

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

/** Characters that draw nothing, by the properties that Unicode gives every code point. */
const isDrawnAsNothing = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{Z}\p{C}\u2800\u{1d159}]$/u
const blanks = Array.from({ length: 0x110000 }, (_, code) => code)
  // A lone surrogate can't be written to a file.
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => isDrawnAsNothing.test(character))

/** As the documentation tells readers: one apostrophe goes where what follows would be taken for a formula. */
function textOf(read: string): string {
  const rest = read.slice(1)
  const isGuarded = read.startsWith("'") && beginsLikeFormula(rest)
  return isGuarded ? rest : read
}

function beginsLikeFormula(text: string): boolean {
  const first = [...text].find((each) => !`'"`.includes(each) && !isDrawnAsNothing.test(each))
  return dangerous.includes(first ?? '') || /^'*[\t\r\n]/.test(text)
}

const blank = fc.nat(blanks.length - 1).map((place) => blanks[place] as string)

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .tuple(
      fc.array(fc.oneof(blank, fc.constantFrom("'", '"')), { maxLength: 4 }),
      fc.constantFrom(...dangerous, 'A1', '1'),
    )
    .map(([before, rest]) => [...before, rest].join('')),
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
      const visible = [...read].find((each) => each !== '"' && !isDrawnAsNothing.test(each))
      expect(dangerous).not.toContain(visible)
      expect(['\t', '\r', '\n']).not.toContain(read.charAt(0))
    }),
    { numRuns: 2_000 },
  )
})

test('no character that draws nothing hides the formula behind it', () => {
  expect(blanks.length).toBeGreaterThan(5_000)
  const named = [
    0x034f, 0xfe0f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x17b4, 0x17b5, 0x2800, 0x180e, 0x00ad, 0x0000, 0xe0020,
  ]
  expect(named.filter((code) => !blanks.includes(String.fromCodePoint(code)))).toEqual([])
  const passing = blanks.filter((blank) => !csvCell(`${blank}=1+1`).replace('"', '').startsWith("'"))
  expect(passing.slice(0, 20).map((blank) => blank.codePointAt(0)?.toString(16))).toEqual([])
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
  expect([csvCell(null), csvCell(-12)]).toEqual(['', '-12'])
})
