import { resolutions } from '../../deposits/chain-deposit.ts'
import { listDepositAttention, resolveDeposit } from '../../deposits/resolve-deposit.ts'
import { contextOf } from '../../operators/owner-of.ts'
import { depositToWallet } from '../../wallets/deposit-to-wallet.ts'
import type { Command } from './command.ts'
import { firstWord, word } from './command.ts'

/** What an operator does about money that comes in. */
export const depositCommands: Readonly<Record<string, Command>> = {
  deposit: {
    summary: 'Adds money that arrived to a wallet; a reference pays once.',
    words: ['wallet id', 'amount'],
    required: { reference: 'text' },
    run: async (service, words, { reference }) => {
      const walletId = word(words, 0)
      const context = await contextOf(service, 'wallet', walletId)
      const deposit = await depositToWallet(context, { walletId, amount: word(words, 1), reference: reference ?? '' })
      return { walletId: deposit.walletId, balance: deposit.balanceAfter }
    },
  },
  'deposit attention': {
    summary: 'Lists the deposits of all merchants that a person must look at, the oldest first.',
    options: { limit: 'number' },
    run: async (service, _, { limit }) => listDepositAttention(service, { limit }),
  },
  'deposit resolve': {
    keptOf: firstWord,
    summary: `Decides about a deposit that somebody had to look at: ${resolutions.join(' or ')}.`,
    words: ['reference', resolutions.join(' or ')],
    required: { reason: 'text' },
    names: { action: `<${resolutions.join(' or ')}>` },
    run: (service, words, { reason = '' }) =>
      // The operation names what is wrong with the word.
      resolveDeposit(service, { reference: word(words, 0), action: word(words, 1) as 'credit', reason }),
  },
}
