import type { z } from 'zod'
import { invalidInput } from '../core/errors.ts'
import { parseInput } from '../core/input.ts'
import { formatAmount, oneUnit } from '../core/money/amount.ts'
import { resolutions } from '../modules/deposits/chain-deposit.ts'
import { listDepositAttention, resolveDeposit } from '../modules/deposits/resolve-deposit.ts'
import { createDepositOwnerContext, createOwnerContext } from '../modules/operators/owner-context.ts'
import { DepositInput, depositToWallet } from '../modules/wallets/deposit-to-wallet.ts'
import { getWallet } from '../modules/wallets/get-wallet.ts'
import { reverseDeposit } from '../modules/wallets/reverse-deposit.ts'
import type { Context } from '../operations/context.ts'
import type { Command } from './command.ts'
import { subjectFromFirstWord, wordAt } from './command.ts'
import { sliceOptions } from './list-commands.ts'

/** The most that live deposits without `--yes`, in units of whatever currency: a typing error is rarely smaller. */
const maxUnconfirmed = 10_000n

/** What an operator does about money that comes in. */
export const depositCommands: Readonly<Record<string, Command>> = {
  deposit: {
    changes: { ...subjectFromFirstWord, movesMoney: true },
    summary: `Credit a wallet with money that arrived. A reference is credited once. In live, more than ${maxUnconfirmed} units of a currency require --yes.`,
    words: ['wallet id', 'amount'],
    required: { reference: ['text', 'of the sender or the bank, which is credited only once'] },
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
  'deposit reverse': {
    changes: { ...subjectFromFirstWord, movesMoney: true },
    summary: 'Reverse a deposit entered by mistake. Debits all of it, once. The wallet must still hold that much.',
    words: ['reference'],
    required: { reason: ['text', 'why, for the operator log'] },
    options: { merchant: 'merchant id' },
    run: async (service, words, { merchant, reason = '' }) => {
      const reference = wordAt(words, 0)
      const context = await createDepositOwnerContext(service, { reference, merchant })
      const { walletId, amount, balanceAfter: balance } = await reverseDeposit(context, { reference, reason })
      return { walletId, reversed: amount, balance }
    },
  },
  'deposit attention': {
    changes: 'nothing',
    summary: 'List the deposits that need attention, oldest first.',
    options: { limit: sliceOptions.limit },
    run: async (service, _, { limit }) => listDepositAttention(service, { limit }),
  },
  'deposit resolve': {
    changes: { ...subjectFromFirstWord, movesMoney: true },
    summary: `Resolve a deposit that needs attention. The decision is ${resolutions.join(' or ')}.`,
    words: ['reference', resolutions.join(' or ')],
    required: { reason: ['text', 'why, for the operator log'] },
    names: { action: `<${resolutions.join(' or ')}>` },
    run: (service, words, { reason = '' }) =>
      // The operation names what is wrong with the word.
      resolveDeposit(service, { reference: wordAt(words, 0), action: wordAt(words, 1) as 'credit', reason }),
  },
}

/** @throws Refusal INVALID_INPUT */
async function requireConfirmed(context: Context, input: z.input<typeof DepositInput>): Promise<void> {
  const { walletId, amount } = parseInput(DepositInput, input)
  if (amount <= maxUnconfirmed * oneUnit) return
  const { currency } = await getWallet(context, { walletId })
  const limit = `${maxUnconfirmed} ${currency}`
  const message = `is required in live for more than ${limit}: this deposit is of ${formatAmount(amount)} ${currency}`
  throw invalidInput([{ field: '--yes', code: 'MISSING_REQUIRED_FIELD', message }])
}
