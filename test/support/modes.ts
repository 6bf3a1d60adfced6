import { setExtendedPublicKeys } from '../../src/modules/merchants/set-extended-public-keys.ts'
import type { Mode } from '../../src/operations/context.ts'
import { junkRoot } from '../modules/networks/junk-mnemonic.ts'
import type { App, Setup } from './app.ts'
import { everyEngine } from './app.ts'

/**
 * Setups of suites about due times: `live` on every engine, and the sandbox on SQLite. The sandbox moves clocks and reads schedules again,
 * which hides retries that are scheduled too late.
 */
export const everyEngineAndMode: readonly (readonly [setup: Setup, mode: Mode])[] = [
  ...everyEngine.map((engine) => [engine, 'live'] as const),
  ['sqlite', 'sandbox'],
]

/** Sets the extended public key that live mode needs for a merchant's deposit addresses; the sandbox has its own. */
export async function setAddressKey(app: App, { merchantId = app.merchant.id, account = 1 } = {}): Promise<void> {
  const evmExtendedPublicKey = junkRoot.derive(`m/44'/60'/${account}'`).publicExtendedKey
  if (app.service.mode === 'live') await setExtendedPublicKeys(app.service, { merchantId, evmExtendedPublicKey })
}
