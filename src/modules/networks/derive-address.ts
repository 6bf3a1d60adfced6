import { bytesToHex, concatBytes } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { LRUCache } from 'lru-cache'
import { base58Check, encodeEvmAddress, encodeTronAddress, isBase58 } from './address-encoding.ts'
import type { AddressFamily } from './network.ts'

/**
 * Derives the child `0/index` (BIP-44's external chain). Solana is not supported, because ed25519 keys derive only from
 * private keys (SLIP-0010).
 *
 * @param index 0 to 2³¹ − 1; anything else throws
 * @throws Error as `parseExtendedPublicKey` does
 */
export function deriveAddress(
  family: Exclude<AddressFamily, 'solana'>,
  extendedPublicKey: string,
  index: number,
): string {
  return addressOf(family, externalChain(extendedPublicKey).deriveChild(index))
}

export function addressOf(family: Exclude<AddressFamily, 'solana'>, { publicKey }: HDKey): string {
  if (publicKey === null) throw new Error('A derived node has no public key.')
  return addressEncoders[family](publicKey)
}

const addressEncoders: Record<Exclude<AddressFamily, 'solana'>, (publicKey: Uint8Array) => string> = {
  evm: encodeEvmAddress,
  tron: encodeTronAddress,
}

/**
 * The parts of an extended public key that determine the derived addresses (BIP-32).
 *
 * @throws Error as `parseExtendedPublicKey` does
 */
export function publicKeyAndChainCode(extendedPublicKey: string): string {
  const { publicKey, chainCode } = parseExtendedPublicKey(extendedPublicKey)
  if (publicKey === null || chainCode === null) throw new Error('The extended public key holds no key.')
  return bytesToHex(concatBytes(publicKey, chainCode))
}

/**
 * Parses the extended public key that wallet software exports for the account `m/44'/<coin>'/<account>'`. Rejects keys
 * of other derivation levels, because the merchant's wallet software would not find money at the derived addresses.
 *
 * @throws Error if the text is a private key or no extended key, or if the checksum, version, level or curve point of
 *   the key is invalid. No message contains the key.
 */
export function parseExtendedPublicKey(text: string): HDKey {
  if (/^.{0,4}prv/.test(text)) throw new Error(privateKeyMessage)
  if (text.length !== 111 || !isBase58(text)) {
    throw new Error('An extended public key is 111 characters of base58 that begin with xpub.')
  }
  const bytes = base58.decode(text)
  if (base58Check.encode(bytes.subarray(0, 78)) !== text) {
    throw new Error('The checksum of the extended public key is wrong. Copy the whole key again.')
  }
  return accountNode(text, bytes)
}

function accountNode(text: string, bytes: Uint8Array): HDKey {
  const fields = new DataView(bytes.buffer, bytes.byteOffset)
  // If byte 45 of an extended key is 0, the key is private, even if the version bytes are those of a public key.
  if (fields.getUint8(45) === 0) throw new Error(privateKeyMessage)
  if (fields.getUint32(0) !== 0x0488b21e) {
    throw new Error('The extended public key has a version other than xpub, such as ypub, zpub or tpub.')
  }
  const isAccountLevel = fields.getUint8(4) === 3 && fields.getUint32(9) >= 0x80000000
  if (!isAccountLevel) {
    throw new Error("The extended public key is not of account level. Export the key of m/44'/60'/0' or m/44'/195'/0'.")
  }
  try {
    return HDKey.fromExtendedKey(text)
  } catch {
    throw new Error('The extended public key is not a point on the curve secp256k1.')
  }
}

const privateKeyMessage =
  'This is a private key. The service needs extended public keys (xpub) only. Never enter a private key, ' +
  'and move the funds of a key that was disclosed.'

/** Parsing the extended public key and deriving the chain cost as much as deriving an address. */
function externalChain(extendedPublicKey: string): HDKey {
  return cachedNode(extendedPublicKey, () => parseExtendedPublicKey(extendedPublicKey).deriveChild(0))
}

/** The cache of extended public keys has a limit, because in live mode every merchant has its own keys. */
export function cachedNode(name: string, make: () => HDKey): HDKey {
  return nodeCache.memo(name, { context: make })
}

const nodeCache = new LRUCache<string, HDKey, () => HDKey>({
  max: 256,
  memoMethod: (_name, _stale, { context: make }) => make(),
})
