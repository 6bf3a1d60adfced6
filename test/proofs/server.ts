import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { openDatabase } from '../../src/app/open-database.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { setRate } from '../../src/modules/pricing/rates.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { perform } from '../support/perform.ts'
import type { Change } from './changed-source.ts'

const root = join(import.meta.dirname, '../..')

/** How a server ended, with the ends of its log and of its standard error. */
export type Ended = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly log: string
  readonly errors: string
}

/** A server in a separate process that has reported that it is ready. */
export type Server = {
  readonly child: ChildProcess
  readonly port: number
  /** Settles when the process has ended, for any reason. */
  readonly ended: Promise<Ended>
  /** Kills it immediately (SIGKILL), or stops it gracefully (SIGTERM). */
  readonly kill: (signal?: 'SIGKILL' | 'SIGTERM') => Promise<Ended>
}

/** Thrown if a server ends before it is ready. */
export class StartFailed extends Error {
  readonly ended: Ended

  constructor(ended: Ended) {
    super(`the server exited with ${ended.code ?? ended.signal} before it was ready: ${ended.errors}`)
    this.ended = ended
  }
}

/** How to start a server; `environment` extends that of this process. */
export type ServerOptions = {
  readonly url: string
  readonly environment?: Readonly<Record<string, string>>
  /** Source changes for a control. */
  readonly changes?: readonly Change[]
}

/** Starts the service on a free port, as `npm start` does. */
export function startMain({ changes = [], ...options }: ServerOptions): Promise<Server> {
  const changing = changes.length === 0 ? [] : ['--import', join(import.meta.dirname, 'change-main.ts')]
  const environment = { ...options.environment, CHANGES: JSON.stringify(changes) }
  return startProgram([...changing, join(root, 'src/app/main.ts')], { ...options, environment })
}

/** Starts any program that takes the service's environment and prints its greeting. */
export async function startProgram(words: readonly string[], options: Omit<ServerOptions, 'changes'>): Promise<Server> {
  const child = spawn(process.execPath, words, {
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: options.url, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    log = (log + chunk).slice(-100_000)
  })
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, log, errors }))
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      errors = (errors + chunk).slice(-100_000)
      const [, found] = /http:\/\/[\d.]+:(\d+)[\s\S]*\n\n/.exec(errors) ?? []
      if (found) resolve(Number(found))
    })
    ended.then((end) => reject(new StartFailed(end)))
  })
  const kill = (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal)
    return ended
  }
  return { child, port, ended, kill }
}

/**
 * Creates a database at `path` with a merchant that has nearly unlimited money, closes it and returns the merchant's
 * key.
 */
export function makeDatabase(path: string): Promise<NewDatabase> {
  return fillDatabase(`sqlite:${path}`)
}

type NewDatabase = { readonly url: string; readonly apiKey: string }

/** Does the same in the database at a URL. */
export async function fillDatabase(url: string): Promise<NewDatabase> {
  const db = await openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
  const service = createService({ db, mode: 'sandbox' })
  const { id, apiKey } = await createMerchant(service, { name: 'Proof' })
  await setRate(service, { fromCode: 'USDC', toCode: 'NGN', rate: '1500' })
  const context = createContext(service, id)
  const wallet = await perform(createWallet, context, { currency: 'USDC', description: 'Proof', network: 'erc20' })
  await depositToWallet(context, { walletId: wallet.id, amount: '1000000000', reference: 'opening' })
  await db.close()
  return { url, apiKey }
}
