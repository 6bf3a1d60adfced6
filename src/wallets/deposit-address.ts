import { hash } from 'node:crypto'
import type { Context } from '../context.ts'
import type { Tx } from '../database/query.ts'
import { Refusal } from '../errors.ts'
import type { SequenceName } from '../lists/sequence.ts'
import { nextInSequence } from '../lists/sequence.ts'
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
  const source = await sourceOf(tx, context, addressFamily(network))
  // The number is taken before it is known to serve: then nobody else can have it, and a refusal gives it back.
  const address = await source.addressNumber(await nextInSequence(tx, merchantId, source.sequence))
  if (address === null) {
    throw new Refusal('DEPOSIT_ADDRESS_UNAVAILABLE', `The merchant has no deposit address to give on ${network}.`)
  }
  return address
}

/** Where addresses come from: each source numbers its own from one, and gives `null` for a number that it can't serve. */
type Source = {
  readonly sequence: SequenceName
  readonly addressNumber: (number: number) => Promise<string | null>
}

async function sourceOf(tx: Tx, context: Context, family: AddressFamily): Promise<Source> {
  return family === 'solana' ? poolOf(tx, context) : keySource(tx, context, family)
}

function poolOf(tx: Tx, { merchantId, mode }: Context): Source {
  const family = 'solana'
  return {
    sequence: `addresses:${family}`,
    addressNumber: async (number) => {
      const pooled = await pooledAddress(tx, { merchantId, family, sequence: number })
      return pooled?.address ?? (mode === 'sandbox' ? sandboxSolanaAddress(number - 1) : null)
    },
  }
}

/** Each key is numbered from zero by itself: a wallet looks no more than twenty unused addresses ahead (BIP-44). */
async function keySource(tx: Tx, { merchantId, mode }: Context, family: 'evm' | 'tron'): Promise<Source> {
  const merchant = await merchantById(tx, { id: merchantId })
  const own = family === 'evm' ? merchant?.evmExtendedPublicKey : merchant?.tronExtendedPublicKey
  const key = own ?? (mode === 'sandbox' ? sandboxExtendedPublicKeys[family] : null)
  return {
    sequence: `addresses:${family}:${key === null ? '' : hash('sha256', key, 'hex').slice(0, 16)}`,
    addressNumber: async (number) => key && deriveAddress(family, key, number - 1),
  }
}
