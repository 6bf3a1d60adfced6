import { idField, notInContract } from '../../rest/input-fields.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { download } from '../../rest/route.ts'
import {
  depositsFile,
  feesFile,
  JournalFileInput,
  mediaTypes,
  payoutsFile,
  StatementFileInput,
  statementFile,
} from './export-formats.ts'

const periodFieldSchemas = {
  from: {
    type: 'string',
    examples: ['2026-11-01'],
    description:
      'The beginning of the period, inclusive: a time with offset, or a day, which means its beginning in UTC. Absent for all from the beginning.',
  },
  to: {
    type: 'string',
    examples: ['2026-12-01'],
    description:
      'The end of the period, exclusive; absent for the current time. If it is less than a minute ago, rows may still be added, and the last record is `END_NOT_FINAL`.',
  },
} as const

const recordFormats = ['csv', 'ndjson'] as const
const formatField = (formats: readonly (keyof typeof mediaTypes)[]) => ({
  type: 'string',
  enum: formats,
  default: 'csv',
  description: 'The format of the file.',
})

const mediaTypesOf = (formats: readonly (keyof typeof mediaTypes)[]) => formats.map((each) => mediaTypes[each].type)
const completenessNote = 'The last record is `END` with the number of lines; a file without it is incomplete.'

export const exportEndpoints: RouteGroup = {
  name: 'Exports',
  description: 'Files for accounting, with opening and closing balances that are verified against the lines.',
  routes: [
    download('/api/wallets/:wallet_id/statement', {
      name: 'exportStatement',
      title: 'Export the statement of a wallet',
      description: `Exports every movement of a wallet’s money in a period, with opening and closing balance. ${completenessNote} A camt053 file ends with the closing tag of the document instead. ${notInContract}`,
      input: StatementFileInput,
      operation: statementFile,
      fields: {
        walletId: idField('The id of the wallet.'),
        ...periodFieldSchemas,
        format: formatField(['csv', 'ndjson', 'camt053']),
      },
      example: { walletId: '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f', from: '2026-11-01', to: '2026-12-01' },
      errors: ['RESOURCE_NOT_FOUND'],
      types: mediaTypesOf(['csv', 'ndjson', 'camt053']),
    }),
    periodDownload('/api/exports/payouts', {
      name: 'exportPayouts',
      title: 'Export payouts',
      description:
        'Exports the payouts that were created in a period, in their current state, with the total of all debits by payouts at its beginning and end.',
      operation: payoutsFile,
    }),
    periodDownload('/api/exports/fees', {
      name: 'exportFees',
      title: 'Export fees',
      description:
        'Exports the fees that were charged in a period, or refunded because payouts failed or were returned.',
      operation: feesFile,
    }),
    periodDownload('/api/exports/deposits', {
      name: 'exportDeposits',
      title: 'Export deposits',
      description: 'Exports the deposits of a period, and its reversals of deposits as negative amounts.',
      operation: depositsFile,
    }),
  ],
}

function periodDownload(
  path: string,
  docs: Pick<Parameters<typeof download>[1], 'name' | 'title' | 'description'> & {
    readonly operation: typeof payoutsFile
  },
) {
  return download(path, {
    ...docs,
    description: `${docs.description} ${completenessNote} ${notInContract}`,
    input: JournalFileInput,
    fields: { ...periodFieldSchemas, format: formatField(recordFormats) },
    example: { from: '2026-11-01', to: '2026-12-01' },
    errors: [],
    types: mediaTypesOf(recordFormats),
  })
}
