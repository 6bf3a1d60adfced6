import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { invalidInput } from '../core/errors.ts'
import { notOneOfError } from '../core/input.ts'
import type { Export, ExportBalance, ExportKind, ExportLine } from '../modules/exports/export.ts'
import type { ExportFormat } from '../modules/exports/export-formats.ts'
import { exportFormats, writeExport } from '../modules/exports/export-formats.ts'
import { exportDeposits, exportFees } from '../modules/exports/journals.ts'
import { exportPayouts } from '../modules/exports/payouts-export.ts'
import { exportStatement } from '../modules/exports/wallet-statement.ts'
import { findMerchant } from '../modules/merchants/find-merchant.ts'
import { allMerchants } from '../modules/merchants/repository.ts'
import { createMerchantContext } from '../modules/merchants/sandbox-clock.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import type { Context, Service } from '../operations/context.ts'
import type { Command, CommandRuntime, OptionValues } from './command.ts'
import type { Progress } from './progress.ts'

const periodOptions = {
  from: ['date or time', 'start of the period; the beginning unless given'],
  to: ['date or time', 'end of the period; now unless given'],
  out: ['file', 'write to this new file'],
} as const
const merchantExportOptions = {
  merchant: ['merchant id', 'of this merchant only'],
  ...periodOptions,
  format: ['format', 'csv (unless given) or ndjson'],
} as const

/** What operators and accountants take the books away with. */
export const exportCommands: Readonly<Record<string, Command>> = {
  'export payouts': {
    changes: 'nothing',
    summary:
      'Export the payouts of a period. Writes to standard output, or to a file that exists only when it is complete.',
    options: merchantExportOptions,
    run: (service, _, options, going) =>
      exportMerchants('payouts', exportPayouts, { service, options, runtime: going }),
  },
  'export statement': {
    changes: 'nothing',
    summary:
      'Export the statement of a wallet. Has every movement of a period between the opening and the closing balance.',
    required: { wallet: 'wallet id' },
    options: { ...periodOptions, format: ['format', 'csv (unless given), ndjson or camt053'] },
    names: { walletId: '--wallet' },
    run: async (service, _, { wallet = '', ...options }, going) => {
      const format = parseFormat(options, exportFormats)
      const { merchantId } = await createOwnerContext(service, 'wallet', wallet)
      const context = await createMerchantContext(service, merchantId)
      const exported = await exportStatement(context, { walletId: wallet, ...periodOf(options) })
      return writeExports({
        kind: 'statement',
        format,
        exports: exportsInOrder([exported]),
        merchantCount: 1,
        options,
        runtime: going,
      })
    },
  },
  'export fees': {
    changes: 'nothing',
    summary: 'Export the fees charged and given back in a period.',
    options: merchantExportOptions,
    run: (service, _, options, going) => exportMerchants('fees', exportFees, { service, options, runtime: going }),
  },
  'export deposits': {
    changes: 'nothing',
    summary: 'Export the deposits of a period.',
    options: merchantExportOptions,
    run: (service, _, options, going) =>
      exportMerchants('deposits', exportDeposits, { service, options, runtime: going }),
  },
}

type MerchantExporter = (context: Context, period: ReturnType<typeof periodOf>) => Promise<Export>
type ExportArgs = { readonly service: Service; readonly options: OptionValues; readonly runtime: CommandRuntime }

async function exportMerchants(
  kind: ExportKind,
  of: MerchantExporter,
  { service, options, runtime: going }: ExportArgs,
) {
  const format = parseFormat(options, ['csv', 'ndjson'])
  const { merchant } = options
  const merchants =
    merchant === undefined ? await allMerchants(service.db, {}) : [await findMerchant(service.db, merchant)]
  const exportMerchant = async (id: string) => of(await createMerchantContext(service, id), periodOf(options))
  // What is wrong with what was typed is told before anything is written.
  const [first, ...others] = merchants.map(({ id }) => id)
  const begun = first === undefined ? [] : [await exportMerchant(first)]
  const exports = exportsInOrder(begun, others, exportMerchant)
  return writeExports({ kind, format, exports, merchantCount: merchants.length, options, runtime: going })
}

async function* exportsInOrder(
  begun: readonly Export[],
  ids: readonly string[] = [],
  ofMerchant?: (id: string) => Promise<Export>,
): AsyncGenerator<Export> {
  yield* begun
  if (ofMerchant) for (const id of ids) yield ofMerchant(id)
}

function periodOf({ from, to }: OptionValues) {
  return { from, to }
}

function parseFormat({ format = 'csv' }: OptionValues, allowed: readonly ExportFormat[]): ExportFormat {
  const found = allowed.find((each) => each === format)
  if (!found) throw invalidInput([notOneOfError('format', allowed)])
  return found
}

type ExportOutput = {
  readonly kind: ExportKind
  readonly format: ExportFormat
  readonly exports: AsyncIterable<Export>
  readonly merchantCount: number
  readonly options: OptionValues
  readonly runtime: Pick<CommandRuntime, 'write' | 'progress'>
}

/** Writes to standard output, and then has no result; or to a file, and tells what is in it. */
async function writeExports(delivery: ExportOutput): Promise<object | undefined> {
  const { kind, format, options, runtime: going } = delivery
  const { out } = options
  const exports = withProgress(delivery)
  if (out === undefined) {
    for await (const text of writeExport(format, kind, exports)) await going.write(text)
    return undefined
  }
  const seen: Export[] = []
  await writeFileAtomically(out, writeExport(format, kind, collectSummaries(exports, seen)))
  return {
    file: out,
    lines: seen.reduce((sum, { lineCount }) => sum + lineCount, 0),
    isFinal: seen.every(({ period }) => period.isFinal),
    opening: seen.flatMap(({ merchantId, opening }) => opening.map((each) => balanceRow(merchantId, each))),
    closing: seen.flatMap(({ merchantId, closing }) => closing.map((each) => balanceRow(merchantId, each))),
  }
}

/** Shows the lines of one merchant, or how many of several merchants are done: their lines are counted one after another. */
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

async function* collectSummaries(exports: AsyncIterable<Export>, seen: Export[]): AsyncGenerator<Export> {
  for await (const exported of exports) {
    seen.push({ ...exported, pages: noPages() })
    yield exported
  }
}

async function* noPages(): AsyncGenerator<never> {}

function balanceRow(merchantId: string, { assetCode, balance }: ExportBalance) {
  return { merchantId, assetCode, balance }
}

/** Writes a file that has its name only when it is complete and on disk; its owner alone may read it. */
async function writeFileAtomically(path: string, texts: AsyncIterable<string>): Promise<void> {
  if (existsSync(path)) throw invalidInput([{ field: 'out', code: 'INVALID_PARAMETER', message: 'is there already' }])
  const part = `${path}.part`
  try {
    const file = await open(part, 'w', 0o600)
    try {
      for await (const text of texts) await file.write(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
