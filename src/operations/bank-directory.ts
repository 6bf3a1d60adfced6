export type Bank = { readonly bankCode: string; readonly bankName: string }

export type BankAccountNumber = { readonly accountNumber: string; readonly bankCode: string }

export type ResolvedBankAccount = BankAccountNumber & { readonly accountName: string }

/** Answers about banks and their accounts, which come from outside the service. */
export type BankDirectory = {
  /**
   * Returns the banks that payouts in a currency can go to, sorted by name.
   *
   * @throws DomainError BANK_LOOKUP_UNAVAILABLE, UNAVAILABLE
   */
  readonly listBanks: (currency: string) => Promise<readonly Bank[]>
  /**
   * Returns the name of an account.
   *
   * @throws DomainError RESOURCE_NOT_FOUND, BANK_LOOKUP_UNAVAILABLE, UNAVAILABLE
   */
  readonly resolveAccount: (account: BankAccountNumber) => Promise<ResolvedBankAccount>
}
