export const sandboxRailName = 'sandbox'

/** In the sandbox, the account number `99999999` plus two digits selects the simulated bank's behaviour. */
export const sandboxAccounts = {
  '00': 'completes immediately',
  '01': 'completes in an hour',
  '10': 'rejects: there is no such account',
  '11': 'rejects: the account is not active',
  '12': 'rejects: the name of the account differs',
  '13': 'rejects: the amount exceeds the limit of the account',
  '20': 'completes, and returns it a day later',
  '30': 'does not respond, but accepts the order',
  '31': 'does not respond, and never receives the order',
  '32': 'reports twice',
  '33': 'reports in the wrong order',
  '34': 'rejects, and then completes',
  '40': 'is down for an hour',
} as const
export type SandboxAccount = keyof typeof sandboxAccounts

const sandboxAccountPrefix = '99999999'

export function parseSandboxAccount(accountNumber: string): SandboxAccount | null {
  const digits = accountNumber.slice(sandboxAccountPrefix.length)
  const isKnown = accountNumber.startsWith(sandboxAccountPrefix) && Object.hasOwn(sandboxAccounts, digits)
  return isKnown ? (digits as SandboxAccount) : null
}
