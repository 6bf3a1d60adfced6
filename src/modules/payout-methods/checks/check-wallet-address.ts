import { evmAddressError, solanaAddressError, tronAddressError } from '../../networks/address-encoding.ts'
import { type AddressFamily, addressFamily, type Network } from '../../networks/network.ts'
import { type CheckCode, type IdentifierCheck, toIdentifierCheck } from './check.ts'

/** Checks a wallet address by the rules of its network's family (ruling 23); there is always exactly one finding. */
export function checkWalletAddress({
  network,
  walletAddress,
}: {
  network: Network
  walletAddress: string
}): IdentifierCheck[] {
  const { code, faultOf } = addressRules[addressFamily(network)]
  return [toIdentifierCheck({ field: 'walletAddress', code, fault: faultOf(walletAddress) })]
}

const addressRules: Record<AddressFamily, { code: CheckCode; faultOf: (address: string) => string | null }> = {
  evm: { code: 'EVM_ADDRESS', faultOf: evmAddressError },
  tron: { code: 'TRON_ADDRESS', faultOf: tronAddressError },
  solana: { code: 'SOLANA_ADDRESS', faultOf: solanaAddressError },
}
