import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { invalidInput, notFound } from '../core/errors.ts'
import { timestamp } from '../core/ids-and-clock.ts'
import {
  attentionDecisions,
  cancelPayoutAction,
  pauseRailAction,
  resumeRailAction,
  settlePayoutAction,
} from '../modules/operators/actions/payout-actions.ts'
import { startOfDay } from '../modules/operators/list-rows.ts'
import type { RuleResult } from '../modules/rails/adapters/conformance-suite.ts'
import { checkRail } from '../modules/rails/adapters/conformance-suite.ts'
import { listAllAttention } from '../modules/rails/attention/list-attention.ts'
import { advanceClock } from '../modules/rails/orders/advance-clock.ts'
import { deleteRoute, listRails, setRoute } from '../modules/rails/orders/rail-routes.ts'
import { readCamtStatement } from '../modules/rails/reconciliation/read-camt-statement.ts'
import { readCsvStatement } from '../modules/rails/reconciliation/read-csv-statement.ts'
import type { Reconciliation } from '../modules/rails/reconciliation/reconcile.ts'
import { isReconciled, reconcile } from '../modules/rails/reconciliation/reconcile.ts'
import type { Service } from '../operations/context.ts'
import type { Command, CommandTable, OptionValues } from './command.ts'
import { actionCommands, requireMerchantContext, requireSandboxFor, subjectFromFirstWord, wordAt } from './command.ts'
import { sliceOptions } from './list-commands.ts'
import type { Progress } from './output.ts'

/** All payments of a bank statement are held in memory, so the size of the file is limited. */
const maxFileBytes = 256 * 1024 * 1024

const railCheckCommand: Command = {
  changes: 'nothing',
  summary:
    'Test a bank against the rules of docs/guides/rails.md. Sends up to four orders to the given account. Use an account of your own, because the bank may pay the orders.',
  words: ['rail'],
  columns: { rule: { priority: 2, isWrapped: true }, result: { priority: 1 }, seen: { priority: 3, isWrapped: true } },
  required: { account: 'number', 'bank-code': 'code', 'bank-name': 'name', name: 'account holder' },
  options: { amount: ['amount', 'of each order, default 1.00'], currency: 'code' },
  names: { accountNumber: '--account', recipientName: '--name' },
  run: async (service, words, options, { rails }) => {
    const rail = rails.find(({ name }) => name === wordAt(words, 0))
    if (!rail) throw notFound('Rail')
    return checkRail(service, rail, {
      accountNumber: options.account ?? '',
      bankCode: options['bank-code'] ?? '',
      bankName: options['bank-name'] ?? '',
      recipientName: options.name ?? '',
      amount: options.amount,
      currency: options.currency as 'NGN',
    })
  },
  hasFailed: (results) => (results as readonly RuleResult[]).some(({ result }) => result === 'FAIL'),
}

export const railCommands: CommandTable = {
  ...actionCommands(settlePayoutAction),
  'rail route': {
    changes: subjectFromFirstWord,
    summary:
      'Route payouts to a rail. Applies to new payouts of an asset, a currency and a country, or to all if none is given.',
    words: ['rail'],
    options: { asset: 'code', currency: 'code', country: 'name' },
    flags: { remove: 'delete the route' },
    names: { assetCode: '--asset' },
    run: async (service, words, { asset, currency, country, remove }) => {
      const conditions = { assetCode: asset, currency, country }
      if (remove === undefined) return setRoute(service, { rail: wordAt(words, 0), ...conditions })
      return { removed: await deleteRoute(service, conditions) }
    },
  },
  'rail list': {
    changes: 'nothing',
    summary: 'List the rails. Includes their routes, pauses and open payouts.',
    run: (service, _words, _options, { rails }) =>
      listRails(
        service,
        rails.map(({ name }) => name),
      ),
  },
  ...actionCommands(pauseRailAction, resumeRailAction),
  clock: {
    changes: { subject: clockSubject },
    summary: 'Show or advance the clock of a sandbox merchant. First runs everything that becomes due until then.',
    options: {
      merchant: ['merchant id', 'required if there are several'],
      by: ['duration', 'advance it by this, such as P1D or PT1H'],
      to: ['time', 'advance it to this'],
    },
    run: showOrAdvanceClock,
  },
  'rail check': railCheckCommand,
  ...actionCommands(cancelPayoutAction),
  'attention list': {
    changes: 'nothing',
    summary: 'List the payouts that need attention, oldest first. Includes the possible decisions about each.',
    options: sliceOptions,
    columns: {
      payoutId: { header: 'payout', priority: 1 },
      payoutStatus: { header: 'status', priority: 3 },
      since: { priority: 4 },
      cause: { priority: 2, isWrapped: true },
      actions: { priority: 5 },
    },
    run: async (service, _, { limit, after }) => {
      const { items, after: next } = await listAllAttention(service, { limit, after })
      const payouts = items.map(({ actions, ...item }) => ({
        ...item,
        actions: actions.map((action) => action.toLowerCase()),
      }))
      return { payouts, next }
    },
  },
  ...actionCommands(...Object.values(attentionDecisions)),
  reconcile: {
    changes: 'nothing',
    summary:
      "Compare a bank's statement with the payouts of a rail. Reads a .csv file, or an .xml file in camt.053. Fails if they differ.",
    words: ['rail', 'file'],
    columns: {
      finding: { priority: 1 },
      what: { priority: 2 },
      ours: { priority: 3 },
      theirs: { priority: 4 },
      payoutId: { header: 'payout', priority: 5 },
      place: { priority: 6 },
    },
    options: {
      from: ['date or time', 'payouts settled earlier need not be in the statement'],
      to: ['date or time', 'payouts settled later need not be in the statement'],
    },
    run: async (service, words, { from, to }, { progress }) => {
      const file = wordAt(words, 1)
      const read = /\.xml$/i.test(file) ? readCamtStatement : readCsvStatement
      const period = { from: startOfDay(from), to: startOfDay(to) }
      return reconcile(service, { rail: wordAt(words, 0), ...period }, read(readFileInChunks(file, progress)))
    },
    hasFailed: (result) => !isReconciled(result as Reconciliation),
  },
}

async function clockSubject(_: readonly string[], { by, to, ...options }: OptionValues, service: Service) {
  return by === undefined && to === undefined ? null : (await requireMerchantContext(service, options)).merchantId
}

async function showOrAdvanceClock(
  service: Service,
  _: readonly string[],
  { merchant, by, to }: OptionValues,
): Promise<object> {
  const context = await requireMerchantContext(requireSandboxFor(service, 'clock'), { merchant })
  if (by === undefined && to === undefined) return { merchantId: context.merchantId, now: timestamp(context.now()) }
  const { result } = await advanceClock(context, { by, to })
  return { merchantId: context.merchantId, now: result.now }
}

async function* readFileInChunks(file: string, progress: Progress): AsyncGenerator<string> {
  const { size } = await stat(file)
  if (size > maxFileBytes) throw invalidFile(`must have at most ${maxFileBytes / 1024 / 1024} MiB`)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    const stream = createReadStream(file)
    for await (const bytes of stream) {
      progress.show('KiB of the statement', Math.floor(stream.bytesRead / 1024), Math.ceil(size / 1024))
      yield decoder.decode(bytes, { stream: true })
    }
    yield decoder.decode()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error
    throw invalidFile('must be text in UTF-8')
  }
}

function invalidFile(message: string) {
  return invalidInput([{ field: 'file', code: 'INVALID_FORMAT', message }])
}
