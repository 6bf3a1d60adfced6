import { z } from 'zod'
import { parse } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import type { Export } from './export.ts'
import type { ExportFormat } from './export-formats.ts'
import { exportFormats, mediaTypes, written } from './export-formats.ts'
import { exportDeposits, exportFees } from './journals.ts'
import { exportPayouts, PeriodInput } from './payouts-export.ts'
import { exportStatement, StatementInput } from './wallet-statement.ts'

/** A file that is written while it is read: its media type, what to call it, and its text, some at a time. */
export type ExportFile = { readonly type: string; readonly name: string; readonly texts: AsyncIterable<string> }

const inColumns = { format: z.enum(['csv', 'ndjson']).default('csv') }

export const StatementFileInput = z.object({ ...StatementInput.shape, format: z.enum(exportFormats).default('csv') })
export const JournalFileInput = z.object({ ...PeriodInput.shape, ...inColumns })

/** The statement of a wallet as a file. @throws Refusal INVALID_INPUT, RESOURCE_NOT_FOUND (wallet) */
export async function statementFile(context: Context, input: z.input<typeof StatementFileInput>): Promise<ExportFile> {
  const { format } = parse(StatementFileInput, input)
  return fileOf(format, await exportStatement(context, input))
}

/** The payouts of a period as a file. @throws Refusal INVALID_INPUT */
export const payoutsFile = journalFile(exportPayouts)

/** The fees of a period as a file. @throws Refusal INVALID_INPUT */
export const feesFile = journalFile(exportFees)

/** The deposits of a period as a file. @throws Refusal INVALID_INPUT */
export const depositsFile = journalFile(exportDeposits)

function journalFile(of: (context: Context, input: z.input<typeof PeriodInput>) => Promise<Export>) {
  return async (context: Context, input: z.input<typeof JournalFileInput>): Promise<ExportFile> => {
    const { format } = parse(JournalFileInput, input)
    return fileOf(format, await of(context, input))
  }
}

function fileOf(format: ExportFormat, exported: Export): ExportFile {
  const { kind, period } = exported
  const days = [period.from, period.to].map((moment) => moment?.slice(0, 10) ?? 'beginning').join('-to-')
  const { type, extension } = mediaTypes[format]
  return { type, name: `${kind}-${days}.${extension}`, texts: written(format, kind, only(exported)) }
}

async function* only(exported: Export): AsyncGenerator<Export> {
  yield exported
}
