import { z } from 'zod'
import { parseInput } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import type { Export } from './export.ts'
import type { ExportFormat } from './export-formats.ts'
import { exportFormats, mediaTypes, writeExport } from './export-formats.ts'
import { exportDeposits, exportFees } from './journals.ts'
import { exportPayouts, PeriodInput } from './payouts-export.ts'
import { exportStatement, StatementInput } from './wallet-statement.ts'

/** A file that is written while it is read: its media type, what to call it, and its text, some at a time. */
export type ExportFile = { readonly type: string; readonly name: string; readonly chunks: AsyncIterable<string> }

const recordFormatField = { format: z.enum(['csv', 'ndjson']).default('csv') }

export const StatementFileInput = z.object({ ...StatementInput.shape, format: z.enum(exportFormats).default('csv') })
export const JournalFileInput = z.object({ ...PeriodInput.shape, ...recordFormatField })

/** The statement of a wallet as a file. @throws Refusal INVALID_INPUT, RESOURCE_NOT_FOUND (wallet) */
export async function statementFile(context: Context, input: z.input<typeof StatementFileInput>): Promise<ExportFile> {
  const { format } = parseInput(StatementFileInput, input)
  return createExportFile(format, await exportStatement(context, input))
}

/** The payouts of a period as a file. @throws Refusal INVALID_INPUT */
export const payoutsFile = createJournalFile(exportPayouts)

/** The fees of a period as a file. @throws Refusal INVALID_INPUT */
export const feesFile = createJournalFile(exportFees)

/** The deposits of a period as a file. @throws Refusal INVALID_INPUT */
export const depositsFile = createJournalFile(exportDeposits)

function createJournalFile(of: (context: Context, input: z.input<typeof PeriodInput>) => Promise<Export>) {
  return async (context: Context, input: z.input<typeof JournalFileInput>): Promise<ExportFile> => {
    const { format } = parseInput(JournalFileInput, input)
    return createExportFile(format, await of(context, input))
  }
}

function createExportFile(format: ExportFormat, exported: Export): ExportFile {
  const { kind, period } = exported
  const days = [period.from, period.to].map((moment) => moment?.slice(0, 10) ?? 'beginning').join('-to-')
  const { type, extension } = mediaTypes[format]
  return { type, name: `${kind}-${days}.${extension}`, chunks: writeExport(format, kind, singleExport(exported)) }
}

async function* singleExport(exported: Export): AsyncGenerator<Export> {
  yield exported
}
