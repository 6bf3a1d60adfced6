import type { Reader } from '../../database/query.ts'
import { numberImportedRowOfOwner } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { findAsset } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { checkBankDetails } from '../payout-methods/checks/check-bank-details.ts'
import { checkWalletAddress } from '../payout-methods/checks/check-wallet-address.ts'
import { payoutMethods } from '../payout-methods/list.ts'
import { toPayoutMethod } from '../payout-methods/payout-method.ts'
import { insertPayoutMethod } from '../payout-methods/repository.ts'
import type { ImportOptions, ImportOutcome } from './import-outcome.ts'
import { findOwners, importRows } from './import-outcome.ts'
import { deletionOfPayoutMethod, payoutMethodsByIds } from './repository.ts'
import type { SourcePayoutMethod } from './source-object.ts'

/** An imported payout method that was deleted later is not imported again. */
export async function importPayoutMethods(
  context: Context,
  rows: readonly SourcePayoutMethod[],
  options: ImportOptions,
): Promise<ImportOutcome[]> {
  const { merchantId } = context
  return importRows(context, rows, options, {
    findStored: async (db, ids) => payoutMethodsByIds(db, { merchantId, ids }),
    prepare: async (db, stored) => ({
      deleted: await findDeletedIds(db, merchantId, rows, stored),
      findOwnerProblem: await findOwners(db, context, rows, options),
      assets: await assetCodesWithNetworks(db),
    }),
    findProblem: ({ deleted, findOwnerProblem, assets }, row) => {
      if (deleted.has(row.id)) return 'was deleted here; it was not created again'
      const isSupported = findAsset(assets, row.currency)?.code === row.currency
      return findOwnerProblem(row) ?? (isSupported ? null : `has the currency ${row.currency}, which is not supported`)
    },
    insert: async (tx, row) => {
      const ownerId = row.customerId ?? merchantId
      const numbered = await numberImportedRowOfOwner(tx, merchantId, { row, ownerId, name: 'payout_methods' })
      const stored = { ...row, ...numbered, checks: checksOf(row) }
      await insertPayoutMethod(tx, stored)
      const method = toPayoutMethod({ ...stored, ownerId })
      await payoutMethods.count(tx, method, 1)
      await recordEvent(tx, context, {
        type: 'payout_method.created',
        objectId: row.id,
        at: row.createdAt,
        data: { ...method, imported: true },
      })
    },
  })
}

async function findDeletedIds(
  db: Reader,
  merchantId: string,
  rows: readonly SourcePayoutMethod[],
  stored: ReadonlyMap<string, unknown>,
): Promise<Set<string>> {
  const deleted = new Set<string>()
  for (const { id } of rows) {
    if (!stored.has(id) && (await deletionOfPayoutMethod(db, { merchantId, id })) !== null) deleted.add(id)
  }
  return deleted
}

function checksOf(row: SourcePayoutMethod) {
  const { network, walletAddress, currency, accountNumber, bankCode, swiftCode, routingNumber, iban, sortCode } = row
  if (network !== null && walletAddress !== null) return checkWalletAddress({ network, walletAddress })
  const required = { accountNumber: accountNumber ?? '', bankCode: bankCode ?? '' }
  return checkBankDetails({ currency, ...required, swiftCode, routingNumber, iban, sortCode })
}
