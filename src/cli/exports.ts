import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { invalidInput } from '../core/errors.ts'
import { notOneOf } from '../core/input.ts'
import type { Balance, Export, ExportKind, Line } from '../modules/exports/export.ts'
import type { ExportFormat } from '../modules/exports/export-formats.ts'
import { exportFormats, written } from '../modules/exports/export-formats.ts'
import { exportDeposits, exportFees } from '../modules/exports/journals.ts'
import { exportPayouts } from '../modules/exports/payouts-export.ts'
import { exportStatement } from '../modules/exports/wallet-statement.ts'
import { findMerchant } from '../modules/merchants/find-merchant.ts'
import { allMerchants } from '../modules/merchants/repository.ts'
import { contextByClock } from '../modules/merchants/sandbox-clock.ts'
import { contextOf } from '../modules/operators/find-merchant-of.ts'
import type { Context, Service } from '../operations/context.ts'
import type { Command, Going, Options } from './command.ts'
import type { Progress } from './progress.ts'

const options = {
  from: ['date or time', 'start of the period; the beginning unless given'],
  to: ['date or time', 'end of the period; now unless given'],
  out: ['file', 'write to this new file'],
} as const
const optionsOfMerchants = {
  merchant: ['merchant id', 'of this merchant only'],
  ...options,
  format: ['format', 'csv (unless given) or ndjson'],
} as const

/** What operators and accountants take the books away with. */
export const exportCommands: Readonly<Record<string, Command>> = {
  'export payouts': {
    changes: 'nothing',
    summary:
      'Export the payouts of a period. Writes to standard output, or to a file that exists only when it is complete.',
    options: optionsOfMerchants,
    run: (service, _, options, going) => exportOfMerchants('payouts', exportPayouts, { service, options, going }),
  },
  'export statement': {
    changes: 'nothing',
    summary:
      'Export the statement of a wallet. Has every movement of a period between the opening and the closing balance.',
    required: { wallet: 'wallet id' },
    options: { ...options, format: ['format', 'csv (unless given), ndjson or camt053'] },
    names: { walletId: '--wallet' },
    run: async (service, _, { wallet = '', ...options }, going) => {
      const format = formatOf(options, exportFormats)
      const { merchantId } = await contextOf(service, 'wallet', wallet)
      const context = await contextByClock(service, merchantId)
      const exported = await exportStatement(context, { walletId: wallet, ...periodOf(options) })
      return deliver({ kind: 'statement', format, exports: each([exported]), merchantCount: 1, options, going })
    },
  },
  'export fees': {
    changes: 'nothing',
    summary: 'Export the fees charged and given back in a period.',
    options: optionsOfMerchants,
    run: (service, _, options, going) => exportOfMerchants('fees', exportFees, { service, options, going }),
  },
  'export deposits': {
    changes: 'nothing',
    summary: 'Export the deposits of a period.',
    options: optionsOfMerchants,
    run: (service, _, options, going) => exportOfMerchants('deposits', exportDeposits, { service, options, going }),
  },
}

type Of = (context: Context, period: ReturnType<typeof periodOf>) => Promise<Export>
type Asked = { readonly service: Service; readonly options: Options; readonly going: Going }

async function exportOfMerchants(kind: ExportKind, of: Of, { service, options, going }: Asked) {
  const format = formatOf(options, ['csv', 'ndjson'])
  const { merchant } = options
  const merchants =
    merchant === undefined ? await allMerchants(service.db, {}) : [await findMerchant(service.db, merchant)]
  const ofMerchant = async (id: string) => of(await contextByClock(service, id), periodOf(options))
  // What is wrong with what was typed is told before anything is written.
  const [first, ...others] = merchants.map(({ id }) => id)
  const begun = first === undefined ? [] : [await ofMerchant(first)]
  const exports = each(begun, others, ofMerchant)
  return deliver({ kind, format, exports, merchantCount: merchants.length, options, going })
}

async function* each(
  begun: readonly Export[],
  ids: readonly string[] = [],
  ofMerchant?: (id: string) => Promise<Export>,
): AsyncGenerator<Export> {
  yield* begun
  if (ofMerchant) for (const id of ids) yield ofMerchant(id)
}

function periodOf({ from, to }: Options) {
  return { from, to }
}

function formatOf({ format = 'csv' }: Options, allowed: readonly ExportFormat[]): ExportFormat {
  const found = allowed.find((each) => each === format)
  if (!found) throw invalidInput([notOneOf('format', allowed)])
  return found
}

type Delivery = {
  readonly kind: ExportKind
  readonly format: ExportFormat
  readonly exports: AsyncIterable<Export>
  readonly merchantCount: number
  readonly options: Options
  readonly going: Pick<Going, 'write' | 'progress'>
}

/** Writes to standard output, and then has no result; or to a file, and tells what is in it. */
async function deliver(delivery: Delivery): Promise<object | undefined> {
  const { kind, format, options, going } = delivery
  const { out } = options
  const exports = showing(delivery)
  if (out === undefined) {
    for await (const text of written(format, kind, exports)) await going.write(text)
    return undefined
  }
  const seen: Export[] = []
  await writeWhole(out, written(format, kind, noted(exports, seen)))
  return {
    file: out,
    lines: seen.reduce((sum, { lineCount }) => sum + lineCount, 0),
    isFinal: seen.every(({ period }) => period.isFinal),
    opening: seen.flatMap(({ merchantId, opening }) => opening.map((each) => balanceRow(merchantId, each))),
    closing: seen.flatMap(({ merchantId, closing }) => closing.map((each) => balanceRow(merchantId, each))),
  }
}

/** Shows the lines of one merchant, or how many of several merchants are done: their lines are counted one after another. */
async function* showing({ kind, exports, merchantCount, going: { progress } }: Delivery): AsyncGenerator<Export> {
  let done = 0
  for await (const exported of exports) {
    yield merchantCount === 1 ? { ...exported, pages: shownPages(exported, kind, progress) } : exported
    if (merchantCount > 1) progress.show('merchants', ++done, merchantCount)
  }
}

async function* shownPages(
  { pages, lineCount }: Export,
  kind: ExportKind,
  { show }: Progress,
): AsyncGenerator<readonly Line[]> {
  let done = 0
  for await (const page of pages) {
    yield page
    done += page.length
    show(`lines of ${kind}`, done, lineCount)
  }
}

async function* noted(exports: AsyncIterable<Export>, seen: Export[]): AsyncGenerator<Export> {
  for await (const exported of exports) {
    seen.push({ ...exported, pages: nothing() })
    yield exported
  }
}

async function* nothing(): AsyncGenerator<never> {}

function balanceRow(merchantId: string, { assetCode, balance }: Balance) {
  return { merchantId, assetCode, balance }
}

/** Writes a file that has its name only when it is complete and on disk; its owner alone may read it. */
async function writeWhole(path: string, texts: AsyncIterable<string>): Promise<void> {
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
