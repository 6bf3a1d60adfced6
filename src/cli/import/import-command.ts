import { invalidInput } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { findMerchant } from '../../modules/merchants/merchant.ts'
import type { Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import type { Command, CommandRuntime, OptionValues } from '../command.ts'
import { wordAt } from '../command.ts'
import type { ContractClient, RateLimit } from '../contract/contract-client.ts'
import { createContractClient } from '../contract/contract-client.ts'
import { readApiKey } from '../contract/read-api-key.ts'
import type { ImportReport } from './import-report.ts'
import { runImport } from './run-import.ts'
import { createSavedResponseClient } from './saved-responses.ts'

export const importCommand: Command = {
  changes: {
    movesMoney: true,
    subject: (words, { 'dry-run': dryRun }) => (dryRun === undefined ? wordAt(words, 0) : null),
  },
  summary:
    "Import a merchant's customers, payout methods and wallets from a server with the REST contract. Keeps ids, times and balances, and reads all balances a second time. Run it again after an interruption: objects that were imported are skipped. Fails if anything is missing or differs.",
  words: ['merchant id'],
  options: {
    from: ['base url', 'the server to import from; requires --key-file'],
    'key-file': ['file', 'a file with an API key of the server'],
    'from-dir': ['folder', 'saved responses to import instead'],
    wallet: ['ids', 'wallets that no list of the server has, separated by commas'],
  },
  flags: { 'dry-run': 'write nothing; report counts, problems and the time that the import needs' },
  names: { 'base url': '--from' },
  columns: {
    object: { priority: 1 },
    id: { priority: 1, isWrapped: true },
    problem: { priority: 1, isWrapped: true },
    walletId: { header: 'wallet', priority: 1, isWrapped: true },
    currency: { priority: 1 },
    source: { priority: 1 },
    here: { priority: 1 },
  },
  run: runImportCommand,
  hasFailed: (result) => {
    const { isDryRun, isComplete, problems } = result as ImportReport
    return isDryRun ? problems.length > 0 : !isComplete
  },
}

async function runImportCommand(
  service: Service,
  words: readonly string[],
  options: OptionValues,
  { progress }: CommandRuntime,
): Promise<ImportReport> {
  const walletIds = parseWalletIds(options.wallet)
  let rateLimit: RateLimit | null = null
  const client = await openSource(options, (reported) => {
    rateLimit = reported
  })
  const merchant = await findMerchant(service.db, wordAt(words, 0))
  return runImport(createContext(service, merchant.id), client, {
    walletIds,
    isDryRun: options['dry-run'] !== undefined,
    rateLimit: () => rateLimit,
    onProgress: progress.show,
  })
}

async function openSource(
  { from, 'key-file': keyFile, 'from-dir': folder }: OptionValues,
  onRateLimit: (rateLimit: RateLimit) => void,
): Promise<ContractClient> {
  if ((from === undefined) === (folder === undefined)) {
    const message = 'is required unless --from-dir is given, and must not be given with it'
    throw invalidInput([{ field: '--from', code: 'INVALID_PARAMETER', message }])
  }
  if (folder !== undefined) return createSavedResponseClient(folder)
  if (keyFile === undefined) {
    const message = 'is required with --from'
    throw invalidInput([{ field: '--key-file', code: 'MISSING_REQUIRED_FIELD', message }])
  }
  return createContractClient(from ?? '', await readApiKey(keyFile), { onRateLimit })
}

function parseWalletIds(text: string | undefined): string[] {
  const words = text?.split(/[\s,]+/).filter(Boolean) ?? []
  return words.map((word) => {
    const id = parseUuid(word)
    if (id !== null) return id
    throw invalidInput([{ field: '--wallet', code: 'INVALID_FORMAT', message: 'must be UUIDs, separated by commas' }])
  })
}
