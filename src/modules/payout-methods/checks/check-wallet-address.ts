import { evmAddressError, solanaAddressError, tronAddressError } from '../../networks/address-encoding.ts'
import { type AddressFamily, addressFamily, type Network } from '../../networks/network.ts'
import { type CheckCode, type IdentifierCheck, toIdentifierCheck } from './check.ts'

export function checkWalletAddress({
  network,
  walletAddress,
}: {
  network: Network
  walletAddress: string
}): IdentifierCheck[] {
  const { code, findError } = addressRules[addressFamily(network)]
  return [toIdentifierCheck({ field: 'walletAddress', code, error: findError(walletAddress) })]
}

const addressRules: Record<AddressFamily, { code: CheckCode; findError: (address: string) => string | null }> = {
  evm: { code: 'EVM_ADDRESS', findError: evmAddressError },
  tron: { code: 'TRON_ADDRESS', findError: tronAddressError },
  solana: { code: 'SOLANA_ADDRESS', findError: solanaAddressError },
}
