/** A row as the database has it. */
export type Row = Readonly<Record<string, string | null>>

/** Formats an amount of 10⁻⁸ units as a decimal string of eight places. */
export function decimal(units: bigint): string {
  const digits = units.toString().padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

export function methodJson(row: Row) {
  const { id, type, currency, created_at, updated_at, customer_id } = row
  const shared = { id, type, currency, created_at, updated_at, customer_id }
  if (type === 'WALLET') {
    return { ...shared, label: row.label, wallet_address: row.wallet_address, network: row.network }
  }
  const { account_name, account_number, bank_name, bank_code, sort_code, swift_code, routing_number, iban } = row
  return { ...shared, account_name, account_number, bank_name, bank_code, sort_code, swift_code, routing_number, iban }
}

export function pageJson(rows: readonly Row[], { total, page, limit }: { total: number; page: number; limit: number }) {
  const totalPages = Math.ceil(total / limit)
  return {
    status: 'success',
    message: 'Merchant payout methods retrieved successfully',
    data: rows.map(methodJson),
    pagination: { total, page, limit, totalPages, hasNextPage: page < totalPages, hasPreviousPage: page > 1 },
  }
}

export function walletJson(row: Row, balance: bigint, addresses: readonly Row[]) {
  const { id, asset_type, currency, description, status, created_at, updated_at, customer_id } = row
  return {
    status: 'success',
    data: {
      id,
      asset_type,
      currency,
      balance: decimal(balance),
      description,
      status,
      created_at,
      updated_at,
      customer_id,
      addresses: addresses.map(({ id, address, network, created_at }) => ({ id, address, network, created_at })),
    },
  }
}
