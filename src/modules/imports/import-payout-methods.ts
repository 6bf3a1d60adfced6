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
import { findIdProblems, futureTimeProblem, importRows } from './import-outcome.ts'
import { customersByIds, deletionOfPayoutMethod, payoutMethodsByIds } from './repository.ts'
import type { SourcePayoutMethod } from './source-object.ts'

/** Imports payout methods of the source, oldest first. A method that was imported and then deleted stays deleted. */
export async function importPayoutMethods(
  context: Context,
  rows: readonly SourcePayoutMethod[],
  options: ImportOptions,
): Promise<ImportOutcome[]> {
  const { merchantId } = context
  return importRows(context, rows, options, {
    prepare: async (db, rows) => {
      const ids = rows.map(({ id }) => id)
      const existing = await payoutMethodsByIds(db, { merchantId, ids })
      const owners = await customersByIds(db, { merchantId, ids: rows.flatMap(({ customerId }) => customerId ?? []) })
      return {
        existing: new Map(existing.map((row) => [row.id, row])),
        deleted: await findDeletedIds(db, merchantId, ids, new Set(existing.map(({ id }) => id))),
        customers: new Set(owners.map(({ id }) => id)),
        assets: await assetCodesWithNetworks(db),
        idProblems: await findIdProblems(db, context, ids),
      }
    },
    existing: ({ existing }, { id }) => {
      const stored = existing.get(id)
      if (stored === undefined) return null
      const { merchantId: _, sequence: __, ownerSequence: ___, ownerId: ____, checks: _____, ...row } = stored
      return row
    },
    findProblem: ({ deleted, customers, assets, idProblems }, row) => {
      const { id, customerId, currency } = row
      if (deleted.has(id)) return 'was deleted here; it was not created again'
      if (customerId !== null && !options.isDryRun && !customers.has(customerId)) {
        return `belongs to customer ${customerId}, which was not imported`
      }
      if (findAsset(assets, currency)?.code !== currency) return `has the currency ${currency}, which is not supported`
      return idProblems.get(id) ?? futureTimeProblem(context, row)
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
  ids: readonly string[],
  existing: ReadonlySet<string>,
): Promise<Set<string>> {
  const deleted = new Set<string>()
  for (const id of ids) {
    if (!existing.has(id) && (await deletionOfPayoutMethod(db, { merchantId, id })) !== null) deleted.add(id)
  }
  return deleted
}

function checksOf(row: SourcePayoutMethod) {
  const { network, walletAddress, currency, accountNumber, bankCode, swiftCode, routingNumber, iban, sortCode } = row
  if (network !== null && walletAddress !== null) return checkWalletAddress({ network, walletAddress })
  const required = { accountNumber: accountNumber ?? '', bankCode: bankCode ?? '' }
  return checkBankDetails({ currency, ...required, swiftCode, routingNumber, iban, sortCode })
}
