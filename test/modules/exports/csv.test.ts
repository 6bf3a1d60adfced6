import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvCell, csvLine } from '../../../src/modules/exports/export-formats.ts'

/** The characters that OWASP lists for CSV injection, also in full width: no text cell may begin with one. */
const dangerous = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']

function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  const cell = /("(?:[^"]|"")*"|[^,"\r\n]*)(,|\r\n|$)/y
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text)
    if (!match) throw new Error(`no cell at ${cell.lastIndex}`)
    const [, content = '', end] = match
    rows.at(-1)?.push(content.startsWith('"') ? content.slice(1, -1).replaceAll('""', '"') : content)
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

const invisibleCharacter = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{Z}\p{C}\u2800\u{1d159}]$/u
const invisibleCharacters = Array.from({ length: 0x110000 }, (_, code) => code)
  // A lone surrogate can't be written to a file.
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => invisibleCharacter.test(character))

/** Removes the apostrophe before text that a spreadsheet would read as a formula, as the documentation describes. */
function unescapeCell(read: string): string {
  const rest = read.slice(1)
  const isGuarded = read.startsWith("'") && beginsLikeFormula(rest)
  return isGuarded ? rest : read
}

function beginsLikeFormula(text: string): boolean {
  const first = [...text].find((each) => !`'"`.includes(each) && !invisibleCharacter.test(each))
  return dangerous.includes(first ?? '') || /^'*[\t\r\n]/.test(text)
}

const invisible = fc.nat(invisibleCharacters.length - 1).map((index) => invisibleCharacters[index] as string)

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .tuple(
      fc.array(fc.oneof(invisible, fc.constantFrom("'", '"')), { maxLength: 4 }),
      fc.constantFrom(...dangerous, 'A1', '1'),
    )
    .map(([prefix, rest]) => [...prefix, rest].join('')),
  fc
    .array(fc.constantFrom(...dangerous, "'", '"', ' ', '\u00a0', '\u200b', '\ufeff', ',', ';', 'A1', '1', '|'), {
      maxLength: 8,
    })
    .map((parts) => parts.join('')),
)

test('any text that is written to a CSV cell is read back unchanged', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (cells) => {
      const [row = []] = readCsv(csvLine(cells))
      expect(row.map(unescapeCell)).toEqual(cells)
    }),
    { numRuns: 2_000 },
  )
})

test('no CSV text cell begins like a formula', () => {
  fc.assert(
    fc.property(text, (original) => {
      const [[read = ''] = []] = readCsv(csvLine([original, 'x']))
      const visible = [...read].find((each) => each !== '"' && !invisibleCharacter.test(each))
      expect(dangerous).not.toContain(visible)
      expect(['\t', '\r', '\n']).not.toContain(read.charAt(0))
    }),
    { numRuns: 2_000 },
  )
})

test('csvCell escapes a formula even if the formula begins with an invisible character', () => {
  expect(invisibleCharacters.length).toBeGreaterThan(5_000)
  const known = [
    0x034f, 0xfe0f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x17b4, 0x17b5, 0x2800, 0x180e, 0x00ad, 0x0000, 0xe0020,
  ]
  expect(known.filter((code) => !invisibleCharacters.includes(String.fromCodePoint(code)))).toEqual([])
  const passing = invisibleCharacters.filter((blank) => !csvCell(`${blank}=1+1`).replace('"', '').startsWith("'"))
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
])('csvCell writes %s as %s', (text, expected) => {
  expect(csvCell(text)).toBe(expected)
})

test('csvLine writes amounts as unquoted numbers, including negative amounts', () => {
  expect(csvLine([-2_650_000_000n, 5n, null, 12])).toBe('-26.50000000,0.00000005,,12\r\n')
  expect([csvCell(null), csvCell(-12)]).toEqual(['', '-12'])
})
