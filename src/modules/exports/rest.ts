import { idField, notInContract } from '../../rest/input-fields.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { download } from '../../rest/route.ts'
import { depositsFile, feesFile, JournalFileInput, payoutsFile, StatementFileInput, statementFile } from './export-files.ts'
import { mediaTypes } from './export-formats.ts'

const periodFieldSchemas = {
  from: {
    type: 'string',
    examples: ['2026-11-01'],
    description:
      'From this moment on: a time with its offset, or a day, which is its first moment in UTC. Without it, from the beginning.',
  },
  to: {
    type: 'string',
    examples: ['2026-12-01'],
    description:
      'Before this moment; without it, until now. What ends less than a minute ago may still be added to: its last record is `END_NOT_FINAL` then.',
  },
} as const

const recordFormats = ['csv', 'ndjson'] as const
const formatField = (formats: readonly (keyof typeof mediaTypes)[]) => ({
  type: 'string',
  enum: formats,
  default: 'csv',
  description: 'How it is written.',
})

const mediaTypesOf = (formats: readonly (keyof typeof mediaTypes)[]) => formats.map((each) => mediaTypes[each].type)
const completenessNote = 'The last record is `END` with how many lines there are; without it the file is not complete.'

export const exportEndpoints: RouteGroup = {
  name: 'Exports',
  description:
    'What accountants take away: files that are written while they are read, with the balances before and after, which the lines must lead from and to.',
  routes: [
    download('/api/wallets/:wallet_id/statement', {
      name: 'exportStatement',
      title: 'Export the statement of a wallet',
      description: `Writes every movement of a wallet’s money in a period, between the balances before and after. ${completenessNote} camt053 ends with the closing tag of the document. ${notInContract}`,
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
        'Writes the payouts that were made in a period, as they are now, with what payouts have taken from wallets by its beginning and its end.',
      operation: payoutsFile,
    }),
    periodDownload('/api/exports/fees', {
      name: 'exportFees',
      title: 'Export fees',
      description:
        'Writes the fees that were charged in a period, and given back with payouts that failed or came back.',
      operation: feesFile,
    }),
    periodDownload('/api/exports/deposits', {
      name: 'exportDeposits',
      title: 'Export deposits',
      description:
        'Writes the deposits that came in during a period, and those that were reversed in it, which are below zero.',
      operation: depositsFile,
    }),
  ],
}

/** A file of the merchant's, of a period. */
function periodDownload(
  path: string,
  told: Pick<Parameters<typeof download>[1], 'name' | 'title' | 'description'> & {
    readonly operation: typeof payoutsFile
  },
) {
  return download(path, {
    ...told,
    description: `${told.description} ${completenessNote} ${notInContract}`,
    input: JournalFileInput,
    fields: { ...periodFieldSchemas, format: formatField(recordFormats) },
    example: { from: '2026-11-01', to: '2026-12-01' },
    errors: [],
    types: mediaTypesOf(recordFormats),
  })
}
