import { z } from 'zod'
import { parseInput } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import type { Export } from './export.ts'
import type { ExportFormat } from './export-formats.ts'
import { exportFormats, mediaTypes, writeExport } from './export-formats.ts'
import { exportDeposits, exportFees } from './journals.ts'
import { exportPayouts } from './payouts-export.ts'
import { PeriodInput } from './period.ts'
import { exportStatement, StatementInput } from './wallet-statement.ts'

/** A file that is written as the consumer reads `chunks`; `type` is its media type. */
export type ExportFile = { readonly type: string; readonly name: string; readonly chunks: AsyncIterable<string> }

const recordFormatField = { format: z.enum(['csv', 'ndjson']).default('csv') }

export const StatementFileInput = z.object({ ...StatementInput.shape, format: z.enum(exportFormats).default('csv') })
export const JournalFileInput = z.object({ ...PeriodInput.shape, ...recordFormatField })

/** @throws DomainError INVALID_INPUT, RESOURCE_NOT_FOUND (wallet) */
export async function statementFile(context: Context, input: z.input<typeof StatementFileInput>): Promise<ExportFile> {
  const { format } = parseInput(StatementFileInput, input)
  return createExportFile(format, await exportStatement(context, input))
}

export const payoutsFile = createJournalFile(exportPayouts)

export const feesFile = createJournalFile(exportFees)

export const depositsFile = createJournalFile(exportDeposits)

/** @throws DomainError INVALID_INPUT */
function createJournalFile(exportJournal: (context: Context, input: z.input<typeof PeriodInput>) => Promise<Export>) {
  return async (context: Context, input: z.input<typeof JournalFileInput>): Promise<ExportFile> => {
    const { format } = parseInput(JournalFileInput, input)
    return createExportFile(format, await exportJournal(context, input))
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
