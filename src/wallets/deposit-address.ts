import type { Context } from '../context.ts'
import type { Tx } from '../database/query.ts'
import { latestInSequence, nextInSequence } from '../database/sequence.ts'
import { Refusal } from '../errors.ts'
import type { Merchant } from '../merchants/merchant.ts'
import { merchantById } from '../merchants/repository.ts'
import { deriveAddress } from '../networks/derive-address.ts'
import type { AddressFamily, Network } from '../networks/network.ts'
import { addressFamily } from '../networks/network.ts'
import { sandboxExtendedPublicKeys, sandboxSolanaAddress } from '../networks/sandbox-addresses.ts'
import { pooledAddress } from './repository.ts'

/**
 * The next deposit address of the merchant on a network, never given out before (ruling 32).
 *
 * EVM networks and Tron derive it from the merchant's extended public key, Solana takes it from the imported pool; the
 * sandbox has test keys for a merchant without its own. No private key is involved.
 *
 * @throws Refusal DEPOSIT_ADDRESS_UNAVAILABLE when the merchant has no key, or no pooled address left
 */
export async function nextDepositAddress(tx: Tx, context: Context, network: Network): Promise<string> {
  const { merchantId } = context
  const family = addressFamily(network)
  const name = `addresses:${family}` as const
  const number = ((await latestInSequence(tx, { merchantId, name }))?.latest ?? 0) + 1
  const address = await addressNumber(tx, context, family, number)
  if (address === null) {
    throw new Refusal('DEPOSIT_ADDRESS_UNAVAILABLE', `The merchant has no deposit address to give on ${network}.`)
  }
  await nextInSequence(tx, merchantId, name)
  return address
}

async function addressNumber(tx: Tx, context: Context, family: AddressFamily, number: number): Promise<string | null> {
  const isSandbox = context.mode === 'sandbox'
  if (family === 'solana') {
    const pooled = await pooledAddress(tx, { merchantId: context.merchantId, family, sequence: number })
    return pooled?.address ?? (isSandbox ? sandboxSolanaAddress(number - 1) : null)
  }
  const merchant = await merchantById(tx, { id: context.merchantId })
  const extendedPublicKey = keyOf(merchant, family) ?? (isSandbox ? sandboxExtendedPublicKeys[family] : null)
  return extendedPublicKey && deriveAddress(family, extendedPublicKey, number - 1)
}

function keyOf(merchant: Merchant | null, family: 'evm' | 'tron'): string | null {
  return (family === 'evm' ? merchant?.evmExtendedPublicKey : merchant?.tronExtendedPublicKey) ?? null
}
