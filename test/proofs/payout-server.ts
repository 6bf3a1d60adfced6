import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { setRate } from '../../src/modules/pricing/rates.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { createServer } from '../../src/server/host.ts'
import { perform } from '../support/perform.ts'
import { openCommittingAlone } from './commit-alone.ts'

/** Messages to the parent: first the URL, then counters at each message. */
export type ServerReport = {
  readonly port: number
  readonly apiKey: string
  readonly commits: number
  /** CPU time of the whole process. */
  readonly cpuMs: number
}

// A real server in a separate process: `node payout-server.ts <grouped|alone> <path>`. It ends with its parent.
const [kind, path] = process.argv.slice(2) as ['grouped' | 'alone', string]
const db =
  kind === 'alone'
    ? openCommittingAlone(path)
    : await openDatabase({ url: `sqlite:${path}`, onFatal: () => process.exit(70) })
const service = createService({ db, mode: 'sandbox' })
const merchant = await createMerchant(service, { name: 'Proof' })
await setRate(service, { fromCode: 'USDC', toCode: 'NGN', rate: '1500' })
const context = () => createContext(service, merchant.id)
const wallet = await perform(createWallet, context(), { currency: 'USDC', description: 'Proof', network: 'erc20' })
await depositToWallet(context(), { walletId: wallet.id, amount: '1000000000', reference: 'opening' })

const app = createServer({ service, logger: createLogger('silent', { write: () => {} }), rateLimit: null })
const address = await app.listen({ host: '127.0.0.1', port: 0 })

function report(): void {
  const { user, system } = process.cpuUsage()
  process.send?.({
    port: Number(new URL(address).port),
    apiKey: merchant.apiKey,
    commits: db.statistics().commits,
    cpuMs: (user + system) / 1000,
  } satisfies ServerReport)
}

process.on('message', report)
process.on('disconnect', async () => {
  await app.close()
  await db.close()
  process.exit(0)
})
report()
