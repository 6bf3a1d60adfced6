import { notFound } from '../../errors.ts'
import type { Checked } from '../../rails/check-rail.ts'
import { checkRail } from '../../rails/check-rail.ts'
import type { Command } from './command.ts'
import { word } from './command.ts'

/** Whether somebody's bank does all that a rail relies on. */
export const railCheckCommand: Command = {
  changes: 'nothing',
  summary:
    'Tries every rule of docs/rails.md at a bank that RAILS names, with up to four orders to the account that is given: one of your own, as they may be paid.',
  words: ['rail'],
  required: { account: 'number', 'bank-code': 'code', 'bank-name': 'name', name: 'account holder' },
  options: { amount: 'amount', currency: 'code' },
  names: { accountNumber: '--account', recipientName: '--name' },
  run: async (service, words, options, { rails }) => {
    const rail = rails.find(({ name }) => name === word(words, 0))
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
  hasFailed: (checked) => (checked as readonly Checked[]).some(({ result }) => result === 'FAIL'),
}
