import { evmAddressFault } from '../../networks/evm.ts'
import { type AddressFamily, addressFamily, type Network } from '../../networks/network.ts'
import { solanaAddressFault } from '../../networks/solana.ts'
import { tronAddressFault } from '../../networks/tron.ts'
import { type Check, type CheckCode, finding } from './check.ts'

/** Checks a wallet address by the rules of its network's family (ruling 23); there is always exactly one finding. */
export function checkWalletAddress({ network, walletAddress }: { network: Network; walletAddress: string }): Check[] {
  const { code, faultOf } = addressRules[addressFamily(network)]
  return [finding({ field: 'walletAddress', code, fault: faultOf(walletAddress) })]
}

const addressRules: Record<AddressFamily, { code: CheckCode; faultOf: (address: string) => string | null }> = {
  evm: { code: 'EVM_ADDRESS', faultOf: evmAddressFault },
  tron: { code: 'TRON_ADDRESS', faultOf: tronAddressFault },
  solana: { code: 'SOLANA_ADDRESS', faultOf: solanaAddressFault },
}
