export type Bank = { readonly bankCode: string; readonly bankName: string }

export type BankAccountNumber = { readonly accountNumber: string; readonly bankCode: string }

export type ResolvedBankAccount = BankAccountNumber & { readonly accountName: string }

export type BankDirectory = {
  /** @throws DomainError BANK_LOOKUP_UNAVAILABLE, UNAVAILABLE */
  readonly listBanks: (currency: string) => Promise<readonly Bank[]>
  /** @throws DomainError RESOURCE_NOT_FOUND, BANK_LOOKUP_UNAVAILABLE, UNAVAILABLE */
  readonly resolveAccount: (account: BankAccountNumber) => Promise<ResolvedBankAccount>
}
