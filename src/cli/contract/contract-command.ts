import { invalidInput } from '../../core/errors.ts'
import { parseAmount } from '../../core/money/amount.ts'
import type { CommandTable } from '../command.ts'
import { wordAt } from '../command.ts'
import type { ContractCheck } from './check-contract.ts'
import { checkContract } from './check-contract.ts'
import { createContractClient } from './contract-client.ts'
import { readApiKey } from './read-api-key.ts'

export const contractCommands: CommandTable = {
  'contract check': {
    changes: 'nothing',
    isWithoutDatabase: true,
    summary:
      'Compare a server with the REST contract. Sends requests that change nothing, and lists each member that differs; the server may be this service, the original provider or a proxy. Fails if anything differs.',
    words: ['base url'],
    required: { 'key-file': ['file', 'a file with an API key of the server'] },
    options: { pay: ['amount', 'also pay this amount of USDC to an example account, which may cost money'] },
    flags: {
      write:
        'also create a bank account and a crypto address, change and delete them, register two customers, and open a wallet',
    },
    columns: {
      check: { priority: 1, isWrapped: true },
      outcome: { priority: 2 },
      path: { priority: 1, isWrapped: true },
      expected: { priority: 2, isWrapped: true },
      actual: { priority: 3, isWrapped: true },
      differences: { priority: 4 },
      skipped: { priority: 5 },
    },
    runStandalone: async (_config, words, { 'key-file': keyFile = '', write, pay }, { progress }) => {
      const key = await readApiKey(keyFile)
      const client = createContractClient(wordAt(words, 0), key)
      const options = { canWrite: write !== undefined, payoutAmount: parsePayoutAmount(pay) }
      return checkContract(client, options, (done, total) => progress.show('requests', done, total))
    },
    hasFailed: (result) => !(result as ContractCheck).holds,
  },
}

function parsePayoutAmount(text: string | undefined): string | null {
  if (text === undefined) return null
  if ((parseAmount(text) ?? 0n) > 0n) return text
  throw invalidInput([{ field: '--pay', code: 'INVALID_PARAMETER', message: 'must be a positive decimal number' }])
}
