import type { z } from 'zod'
import { invalidInput } from '../core/errors.ts'
import { parseInput } from '../core/input.ts'
import { formatAmount, oneUnit } from '../core/money/amount.ts'
import { listDepositAttention } from '../modules/deposits/resolve-deposit.ts'
import { resolveDepositAction, reverseDepositAction } from '../modules/operators/actions/deposit-actions.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { DepositInput, depositToWallet } from '../modules/wallets/deposit-to-wallet.ts'
import { getWallet } from '../modules/wallets/get-wallet.ts'
import type { Context } from '../operations/context.ts'
import type { CommandTable } from './command.ts'
import { actionCommands, subjectFromFirstWord, wordAt } from './command.ts'
import { sliceOptions } from './list-commands.ts'

/** In live mode, a deposit above `maxUnconfirmed` requires `--yes`, because the amount may be a typing error. */
const maxUnconfirmed = 10_000n

export const depositCommands: CommandTable = {
  deposit: {
    changes: { ...subjectFromFirstWord, movesMoney: true },
    summary: `Credit a wallet with money that arrived. A reference is credited once. In live, more than ${maxUnconfirmed} units of a currency require --yes.`,
    words: ['wallet id', 'amount'],
    required: { reference: ['text', 'of the sender or the bank; a reference is credited once'] },
    flags: { yes: 'confirm a large amount' },
    run: async (service, words, { reference = '', yes }) => {
      const walletId = wordAt(words, 0)
      const context = await createOwnerContext(service, 'wallet', walletId)
      const input = { walletId, amount: wordAt(words, 1), reference }
      if (service.mode === 'live' && yes === undefined) await requireConfirmed(context, input)
      const deposit = await depositToWallet(context, input)
      return { walletId: deposit.walletId, balance: deposit.balanceAfter }
    },
  },
  ...actionCommands(reverseDepositAction),
  'deposit attention': {
    changes: 'nothing',
    summary: 'List the deposits that need attention, oldest first.',
    options: { limit: sliceOptions.limit },
    run: async (service, _, { limit }) => listDepositAttention(service, { limit }),
  },
  ...actionCommands(resolveDepositAction),
}

/** @throws DomainError INVALID_INPUT */
async function requireConfirmed(context: Context, input: z.input<typeof DepositInput>): Promise<void> {
  const { walletId, amount } = parseInput(DepositInput, input)
  if (amount <= maxUnconfirmed * oneUnit) return
  const { currency } = await getWallet(context, { walletId })
  const limit = `${maxUnconfirmed} ${currency}`
  const message = `is required in live for more than ${limit}: this deposit is of ${formatAmount(amount)} ${currency}`
  throw invalidInput([{ field: '--yes', code: 'MISSING_REQUIRED_FIELD', message }])
}
