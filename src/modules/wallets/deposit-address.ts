import { hash } from 'node:crypto'
import { DomainError, invalidInput } from '../../core/errors.ts'
import type { Tx } from '../../database/query.ts'
import type { SequenceName } from '../../lists/sequence.ts'
import { takeSequenceNumber } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { lockInstallation } from '../installation/repository.ts'
import { merchantById } from '../merchants/repository.ts'
import { solanaAddressError } from '../networks/address-encoding.ts'
import { deriveAddress } from '../networks/derive-address.ts'
import type { AddressFamily, Network } from '../networks/network.ts'
import { addressFamily } from '../networks/network.ts'
import {
  sandboxExtendedPublicKeys,
  sandboxMerchantAddress,
  sandboxSolanaAddress,
} from '../networks/sandbox-addresses.ts'
import { claimAddress, insertPooledAddress, merchantOfPooledAddress, pooledAddress } from './repository.ts'

const maxNumbersTried = 100

/**
 * No two wallets have the same address, not even wallets of different merchants (rulings 32 and 114).
 *
 * An address for EVM networks and Tron is derived from the merchant's extended public key. A Solana address comes from
 * the addresses that the merchant has imported. In the sandbox, merchants without an extended public key share test
 * keys.
 *
 * @throws DomainError DEPOSIT_ADDRESS_UNAVAILABLE if the merchant has no extended public key, if every imported
 *   address is in use, or if other wallets have all of the key's next addresses
 */
export async function nextDepositAddress(tx: Tx, context: Context, network: Network): Promise<string> {
  const { merchantId } = context
  const source = await addressSourceOf(tx, context, addressFamily(network))
  for (let tried = 0; tried < maxNumbersTried; tried++) {
    // Reserves the address number first, so that no concurrent transaction gets the same number.
    const addresses = await source.candidateAddresses(await takeSequenceNumber(tx, merchantId, source.sequence))
    if (addresses.length === 0) break
    for (const derive of addresses) {
      const address = derive()
      if (await claimAddress(tx, { address, merchantId })) return address
    }
  }
  throw new DomainError('DEPOSIT_ADDRESS_UNAVAILABLE', `The merchant has no deposit address available on ${network}.`)
}

type AddressSource = {
  readonly sequence: SequenceName
  /** The wallet gets the first of these addresses that no other wallet has. */
  readonly candidateAddresses: (number: number) => Promise<readonly (() => string)[]>
}

async function addressSourceOf(tx: Tx, context: Context, family: AddressFamily): Promise<AddressSource> {
  const isPooled = family === 'solana'
  return isPooled ? pooledAddressSource(tx, context) : derivedAddressSource(tx, context, family)
}

function pooledAddressSource(tx: Tx, { merchantId, mode }: Context): AddressSource {
  const family = 'solana'
  return {
    sequence: `addresses:${family}`,
    candidateAddresses: async (number) => {
      const pooled = await pooledAddress(tx, { merchantId, family, sequence: number })
      if (pooled) return [() => pooled.address]
      return mode === 'sandbox'
        ? [() => sandboxSolanaAddress(number - 1), () => sandboxMerchantAddress(family, merchantId, number - 1)]
        : []
    },
  }
}

/**
 * Each extended public key has its own sequence of addresses, because wallet software scans at most twenty unused
 * addresses ahead (BIP-44).
 */
async function derivedAddressSource(
  tx: Tx,
  { merchantId, mode }: Context,
  family: 'evm' | 'tron',
): Promise<AddressSource> {
  const merchant = await merchantById(tx, { id: merchantId })
  const own = { evm: merchant?.evmExtendedPublicKey, tron: merchant?.tronExtendedPublicKey }[family]
  const shared = mode === 'sandbox' ? sandboxExtendedPublicKeys[family] : null
  const key = own ?? shared
  return {
    sequence: `addresses:${family}:${key === null ? '' : hash('sha256', key, 'hex').slice(0, 16)}`,
    candidateAddresses: async (number) => {
      if (key === null) return []
      const address = () => deriveAddress(family, key, number - 1)
      return own ? [address] : [address, () => sandboxMerchantAddress(family, merchantId, number - 1)]
    },
  }
}

/**
 * Wallets get the imported addresses in the order of `addresses`. Skips addresses that were imported before.
 *
 * @throws DomainError INVALID_INPUT without importing any address: lists the first invalid lines, or an address that
 *   another merchant has imported
 */
export async function importSolanaAddresses(
  context: Context,
  { addresses }: { addresses: readonly string[] },
): Promise<{ added: number; known: number }> {
  const errors = addresses.flatMap((address, line) => {
    const error = solanaAddressError(address)
    return error === null ? [] : [{ field: `line ${line + 1}`, code: 'INVALID_FORMAT', message: error } as const]
  })
  if (errors.length > 0) throw invalidInput(errors.slice(0, 10))
  const { merchantId } = context
  const family = 'solana'
  return context.db.write(async (tx) => {
    await lockInstallation(tx, {})
    let added = 0
    for (const address of new Set(addresses)) {
      const owner = await merchantOfPooledAddress(tx, { family, address })
      if (owner?.id === merchantId) continue
      if (owner)
        throw invalidInput([
          { field: address, code: 'INVALID_PARAMETER', message: 'is in the pool of another merchant' },
        ])
      const sequence = await takeSequenceNumber(tx, merchantId, `pooled_addresses:${family}`)
      await insertPooledAddress(tx, { merchantId, family, sequence, address })
      added++
    }
    return { added, known: addresses.length - added }
  })
}
