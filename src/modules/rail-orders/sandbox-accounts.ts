/** The rail of the sandbox's own bank. */
export const sandboxRailName = 'sandbox'

/** What the bank of the sandbox does with a payout to the account `99999999` and these two digits. */
export const sandboxAccounts = {
  '00': 'completes at once',
  '01': 'completes in an hour',
  '10': 'rejects: there is no such account',
  '11': 'rejects: the account is not active',
  '12': 'rejects: the account has another name',
  '13': 'rejects: the amount is above the limit of the account',
  '20': 'completes, and returns it a day later',
  '30': 'does not answer, but has taken the order',
  '31': 'does not answer, and has never got the order',
  '32': 'reports twice',
  '33': 'reports in the wrong order',
  '34': 'rejects, and then completes',
  '40': 'is down for an hour',
} as const
export type SandboxAccount = keyof typeof sandboxAccounts

const sandboxAccountPrefix = '99999999'

/** The digits by which the sandbox's bank knows what to do; `null` for the account of anybody else. */
export function parseSandboxAccount(accountNumber: string): SandboxAccount | null {
  const digits = accountNumber.slice(sandboxAccountPrefix.length)
  const isKnown = accountNumber.startsWith(sandboxAccountPrefix) && Object.hasOwn(sandboxAccounts, digits)
  return isKnown ? (digits as SandboxAccount) : null
}
