import { notFound } from '../core/errors.ts'
import type { RuleResult } from '../modules/rails/adapters/conformance-suite.ts'
import { checkRail } from '../modules/rails/adapters/conformance-suite.ts'
import type { Command } from './command.ts'
import { wordAt } from './command.ts'

/** Whether somebody's bank does all that a rail relies on. */
export const railCheckCommand: Command = {
  changes: 'nothing',
  summary:
    'Test a bank against the rules of docs/guides/rails.md. Sends up to four orders to the given account. Use one of your own, because the bank may pay them.',
  words: ['rail'],
  columns: { rule: { priority: 2, isWrapped: true }, result: { priority: 1 }, seen: { priority: 3, isWrapped: true } },
  required: { account: 'number', 'bank-code': 'code', 'bank-name': 'name', name: 'account holder' },
  options: { amount: ['amount', 'of each order, 1.00 unless given'], currency: 'code' },
  names: { accountNumber: '--account', recipientName: '--name' },
  run: async (service, words, options, { rails }) => {
    const rail = rails.find(({ name }) => name === wordAt(words, 0))
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
  hasFailed: (checked) => (checked as readonly RuleResult[]).some(({ result }) => result === 'FAIL'),
}
