import type { RowOf } from '../../database/tables.ts'

/** Who holds customers, wallets and keys; `evmExtendedPublicKey` and `tronExtendedPublicKey` derive its addresses. */
export type Merchant = RowOf<'merchants'>
