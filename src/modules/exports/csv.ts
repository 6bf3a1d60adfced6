import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { ExportCell } from './export.ts'

/**
 * Text that a spreadsheet takes for a formula: it begins with one of these characters, as they are on keyboards or in full width,
 * whatever quotes and characters that draw nothing come first; or it begins with a tab or a line break, which some pass over. An apostrophe
 * before these may be one of ours, so there is another then.
 *
 * Unicode's properties say what draws nothing (marks, separators, controls, default-ignorable code points), so that no list has to
 * follow its versions. Only the Braille blank and the null notehead are blank symbols by their glyph alone.
 */
const formulaPattern =
  /^['"\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{Z}\p{C}\u2800\u{1d159}]*[=+\-@＝＋－＠]|^'*[\t\r\n]/u

/**
 * A cell of RFC 4180. What would be taken for a formula has an apostrophe before it, by which spreadsheets know text; so whoever
 * wants the text itself takes one apostrophe away where what follows would be taken for a formula. Amounts are made here, are
 * numbers and stay as they are.
 */
export function csvCell(cell: ExportCell): string {
  if (cell === null) return ''
  if (typeof cell === 'bigint') return formatAmount(cell satisfies Amount)
  if (typeof cell === 'number') return String(cell)
  const text = formulaPattern.test(cell) ? `'${cell}` : cell
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line of cells, which ends as RFC 4180 has it. */
export function csvLine(cells: readonly ExportCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}
