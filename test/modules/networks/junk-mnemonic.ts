import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { HDKey } from '@scure/bip32'

/** The BIP-39 seed of the mnemonic that development tools share; the sandbox's public keys derive from it. */
export const junkSeed = pbkdf2(sha512, 'test test test test test test test test test test test junk', 'mnemonic', {
  c: 2048,
  dkLen: 64,
})

/** The BIP-32 root of that seed with its private key, to verify public derivation. */
export const junkRoot = HDKey.fromMasterSeed(junkSeed)
