import type { Mode } from '../../src/context.ts'
import { setExtendedPublicKeys } from '../../src/merchants/set-extended-public-keys.ts'
import { junkRoot } from '../networks/junk-mnemonic.ts'
import type { App, Setup } from './app.ts'
import { everyEngine } from './app.ts'

/**
 * For suites about what happens at its time: `live` on every engine, because only the sandbox moves clocks and so hides what is due
 * too late, and the sandbox on one.
 */
export const everyEngineAndMode: readonly (readonly [setup: Setup, mode: Mode])[] = [
  ...everyEngine.map((engine) => [engine, 'live'] as const),
  ['sqlite', 'sandbox'],
]

/** Sets a key for a merchant's deposit addresses in live, where there are none without; the sandbox has its own. */
export async function setAddressKey(app: App, { merchantId = app.merchant.id, account = 1 } = {}): Promise<void> {
  const evmExtendedPublicKey = junkRoot.derive(`m/44'/60'/${account}'`).publicExtendedKey
  if (app.service.mode === 'live') await setExtendedPublicKeys(app.service, { merchantId, evmExtendedPublicKey })
}
