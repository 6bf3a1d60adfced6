import { bytesToHex, concatBytes } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { LRUCache } from 'lru-cache'
import { base58Check, encodeEvmAddress, encodeTronAddress, isBase58 } from './address-encoding.ts'
import type { AddressFamily } from './network.ts'

/**
 * The receiving address number `index` below an account's extended public key: child `0/index`, BIP-44's external chain.
 *
 * Solana is left out because ed25519 wallets derive with private keys only (SLIP-0010).
 *
 * @param index 0 to 2³¹ − 1; anything else throws
 * @throws Error where `parseExtendedPublicKey` does
 */
export function deriveAddress(
  family: Exclude<AddressFamily, 'solana'>,
  extendedPublicKey: string,
  index: number,
): string {
  return addressOf(family, externalChain(extendedPublicKey).deriveChild(index))
}

/** The address of a node's public key. */
export function addressOf(family: Exclude<AddressFamily, 'solana'>, { publicKey }: HDKey): string {
  if (publicKey === null) throw new Error('A derived node has no public key.')
  return addressEncoders[family](publicKey)
}

const addressEncoders: Record<Exclude<AddressFamily, 'solana'>, (publicKey: Uint8Array) => string> = {
  evm: encodeEvmAddress,
  tron: encodeTronAddress,
}

/**
 * What of an extended public key its addresses derive from: public key and chain code (BIP-32). Its version, depth, parent
 * fingerprint and child number change no address.
 *
 * @throws Error where `parseExtendedPublicKey` does
 */
export function publicKeyAndChainCode(extendedPublicKey: string): string {
  const { publicKey, chainCode } = parseExtendedPublicKey(extendedPublicKey)
  if (publicKey === null || chainCode === null) throw new Error('The extended public key holds no key.')
  return bytesToHex(concatBytes(publicKey, chainCode))
}

/**
 * The account's node in an extended public key, as a wallet exports it for `m/44'/<coin>'/<account>'`.
 *
 * Only account level is taken (depth 3, hardened): below any other level `0/index` leads to addresses that the
 * merchant's own wallet never looks at, and money sent there would seem lost.
 *
 * @throws Error, the first that applies: a private key (whose text no message repeats), not an extended key, wrong
 *   checksum, wrong version, wrong level, no point of the curve
 */
export function parseExtendedPublicKey(text: string): HDKey {
  if (/^.{0,4}prv/.test(text)) throw new Error(privateKeyMessage)
  if (text.length !== 111 || !isBase58(text)) {
    throw new Error('An extended public key is 111 characters of base58 that begin with xpub.')
  }
  const bytes = base58.decode(text)
  if (base58Check.encode(bytes.subarray(0, 78)) !== text) {
    throw new Error('The checksum of the extended public key is wrong: it was not copied exactly.')
  }
  return accountNode(text, bytes)
}

function accountNode(text: string, bytes: Uint8Array): HDKey {
  const fields = new DataView(bytes.buffer, bytes.byteOffset)
  // Byte 45 opens the key: 0 announces a private one, whatever the version in front of it claims.
  if (fields.getUint8(45) === 0) throw new Error(privateKeyMessage)
  if (fields.getUint32(0) !== 0x0488b21e) {
    throw new Error('The extended public key has another version than xpub, such as ypub, zpub or tpub.')
  }
  const isAccountLevel = fields.getUint8(4) === 3 && fields.getUint32(9) >= 0x80000000
  if (!isAccountLevel) {
    throw new Error("The extended public key is not of account level: export the key of m/44'/60'/0' or m/44'/195'/0'.")
  }
  try {
    return HDKey.fromExtendedKey(text)
  } catch {
    throw new Error('The extended public key holds no point of the curve secp256k1.')
  }
}

const privateKeyMessage =
  'This is a private key. The service works with extended public keys (xpub) only: never give it a private key, ' +
  'and move the funds of one that has been given away.'

/**
 * The external chain's node, remembered, because parsing a key (decompressing its point) and taking the first step cost
 * as much again as the step to an address. Bounded, because in live mode every merchant brings keys of its own.
 */
function externalChain(extendedPublicKey: string): HDKey {
  return cachedNode(extendedPublicKey, () => parseExtendedPublicKey(extendedPublicKey).deriveChild(0))
}

/** A node that addresses are derived below, made at its first use. */
export function cachedNode(name: string, make: () => HDKey): HDKey {
  return nodeCache.memo(name, { context: make })
}

const nodeCache = new LRUCache<string, HDKey, () => HDKey>({
  max: 256,
  memoMethod: (_name, _stale, { context: make }) => make(),
})
