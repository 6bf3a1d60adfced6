import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { invalidInput } from '../core/errors.ts'
import { notOneOfError } from '../core/input.ts'
import { ownerOnlyMode, startNewFile } from '../database/private-file.ts'
import type { Export, ExportBalance, ExportKind, ExportLine } from '../modules/exports/export.ts'
import type { ExportFormat } from '../modules/exports/export-formats.ts'
import { exportFormats, writeExport } from '../modules/exports/export-formats.ts'
import { exportDeposits, exportFees } from '../modules/exports/journals.ts'
import { exportPayouts } from '../modules/exports/payouts-export.ts'
import { exportStatement } from '../modules/exports/wallet-statement.ts'
import { createMerchantContext, findMerchant } from '../modules/merchants/merchant.ts'
import { allMerchants } from '../modules/merchants/repository.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import type { Context, Service } from '../operations/context.ts'
import type { CommandRuntime, CommandTable, OptionValues } from './command.ts'
import type { Progress } from './output.ts'

const periodOptions = {
  from: ['date or time', 'start of the period; default: the beginning'],
  to: ['date or time', 'end of the period; default: now'],
  out: ['file', 'write to this new file'],
} as const
const merchantExportOptions = {
  merchant: ['merchant id', 'of this merchant only'],
  ...periodOptions,
  format: ['format', 'csv (default) or ndjson'],
} as const

export const exportCommands: CommandTable = {
  'export payouts': {
    changes: 'nothing',
    summary:
      'Export the payouts of a period. Writes to standard output, or to a file that exists only when it is complete.',
    options: merchantExportOptions,
    run: (service, _, options, runtime) => exportMerchants('payouts', exportPayouts, { service, options, runtime }),
  },
  'export statement': {
    changes: 'nothing',
    summary: 'Export the statement of a wallet. Lists every movement of a period, with opening and closing balance.',
    required: { wallet: 'wallet id' },
    options: { ...periodOptions, format: ['format', 'csv (default), ndjson or camt053'] },
    names: { walletId: '--wallet' },
    run: async (service, _, { wallet = '', ...options }, runtime) => {
      const format = parseFormat(options, exportFormats)
      const context = await createOwnerContext(service, 'wallet', wallet)
      const exported = await exportStatement(context, { walletId: wallet, ...periodOf(options) })
      return writeExports({
        kind: 'statement',
        format,
        exports: exportsInOrder([exported]),
        merchantCount: 1,
        options,
        runtime,
      })
    },
  },
  'export fees': {
    changes: 'nothing',
    summary: 'Export the fees charged and refunded in a period.',
    options: merchantExportOptions,
    run: (service, _, options, runtime) => exportMerchants('fees', exportFees, { service, options, runtime }),
  },
  'export deposits': {
    changes: 'nothing',
    summary: 'Export the deposits of a period.',
    options: merchantExportOptions,
    run: (service, _, options, runtime) => exportMerchants('deposits', exportDeposits, { service, options, runtime }),
  },
}

type MerchantExporter = (context: Context, period: ReturnType<typeof periodOf>) => Promise<Export>
type ExportArgs = { readonly service: Service; readonly options: OptionValues; readonly runtime: CommandRuntime }

async function exportMerchants(
  kind: ExportKind,
  exporter: MerchantExporter,
  { service, options, runtime }: ExportArgs,
) {
  const format = parseFormat(options, ['csv', 'ndjson'])
  const { merchant } = options
  const merchants =
    merchant === undefined ? await allMerchants(service.db, {}) : [await findMerchant(service.db, merchant)]
  const exportMerchant = async (id: string) => exporter(await createMerchantContext(service, id), periodOf(options))
  // The first export is opened before the command creates a file, because opening the export validates the options.
  const [first, ...others] = merchants.map(({ id }) => id)
  const opened = first === undefined ? [] : [await exportMerchant(first)]
  const exports = exportsInOrder(opened, others, exportMerchant)
  return writeExports({ kind, format, exports, merchantCount: merchants.length, options, runtime })
}

async function* exportsInOrder(
  opened: readonly Export[],
  ids: readonly string[] = [],
  exportMerchant?: (id: string) => Promise<Export>,
): AsyncGenerator<Export> {
  yield* opened
  if (exportMerchant) for (const id of ids) yield exportMerchant(id)
}

function periodOf({ from, to }: OptionValues) {
  return { from, to }
}

function parseFormat({ format = 'csv' }: OptionValues, allowed: readonly ExportFormat[]): ExportFormat {
  const known = allowed.find((each) => each === format)
  if (!known) throw invalidInput([notOneOfError('format', allowed)])
  return known
}

type ExportOutput = {
  readonly kind: ExportKind
  readonly format: ExportFormat
  readonly exports: AsyncIterable<Export>
  readonly merchantCount: number
  readonly options: OptionValues
  readonly runtime: Pick<CommandRuntime, 'write' | 'progress'>
}

async function writeExports(output: ExportOutput): Promise<object | undefined> {
  const { kind, format, options, runtime } = output
  const { out } = options
  const exports = withProgress(output)
  if (out === undefined) {
    for await (const text of writeExport(format, kind, exports)) await runtime.write(text)
    return undefined
  }
  const written: Export[] = []
  await writeFileAtomically(out, writeExport(format, kind, collectSummaries(exports, written)))
  return {
    file: out,
    lines: written.reduce((sum, { lineCount }) => sum + lineCount, 0),
    isFinal: written.every(({ period }) => period.isFinal),
    opening: written.flatMap(({ merchantId, opening }) => opening.map((each) => balanceRow(merchantId, each))),
    closing: written.flatMap(({ merchantId, closing }) => closing.map((each) => balanceRow(merchantId, each))),
  }
}

/** The number of lines of several merchants is not known in advance, so progress is shown in merchants. */
async function* withProgress({
  kind,
  exports,
  merchantCount,
  runtime: { progress },
}: ExportOutput): AsyncGenerator<Export> {
  let done = 0
  for await (const exported of exports) {
    yield merchantCount === 1 ? { ...exported, pages: pagesWithProgress(exported, kind, progress) } : exported
    if (merchantCount > 1) progress.show('merchants', ++done, merchantCount)
  }
}

async function* pagesWithProgress(
  { pages, lineCount }: Export,
  kind: ExportKind,
  { show }: Progress,
): AsyncGenerator<readonly ExportLine[]> {
  let done = 0
  for await (const page of pages) {
    yield page
    done += page.length
    show(`lines of ${kind}`, done, lineCount)
  }
}

async function* collectSummaries(exports: AsyncIterable<Export>, written: Export[]): AsyncGenerator<Export> {
  for await (const exported of exports) {
    written.push({ ...exported, pages: noPages() })
    yield exported
  }
}

async function* noPages(): AsyncGenerator<never> {}

function balanceRow(merchantId: string, { assetCode, balance }: ExportBalance) {
  return { merchantId, assetCode, balance }
}

/** Only the owner can read the file. The file appears at `path` only when it is complete and synced. */
async function writeFileAtomically(path: string, texts: AsyncIterable<string>): Promise<void> {
  if (existsSync(path)) throw invalidInput([{ field: 'out', code: 'INVALID_PARAMETER', message: 'exists already' }])
  const newFile = startNewFile(path)
  try {
    const file = await open(newFile.path, 'wx', ownerOnlyMode)
    try {
      for await (const text of texts) await file.write(text)
    } finally {
      await file.close()
    }
    newFile.publish()
  } finally {
    newFile.remove()
  }
}
