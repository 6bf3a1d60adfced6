import { onTestFinished } from 'vitest'
import { demoApiKey } from '../../../src/demo/demo.ts'
import { type Engine, newDatabase } from '../../support/app.ts'
import { createDemoInstallation, createEmptyInstallation, startService } from '../../support/process.ts'
import { startProxy } from './proxy.ts'

/** Starts the service with its demo merchant, and a proxy in front of it. */
export async function startServiceAndProxy(engine: Engine = 'sqlite', environment: Record<string, string> = {}) {
  const place = await placeOn(engine, environment)
  const { address } = await startService(place)
  const proxy = await startProxy(address)
  onTestFinished(proxy.end)
  return { place, address, proxy, options: { url: proxy.address, apiKey: demoApiKey, retry: { baseDelayMs: 20 } } }
}

async function placeOn(engine: Engine, environment: Record<string, string>) {
  if (engine === 'sqlite') return createDemoInstallation(environment)
  const { url, remove } = await newDatabase(engine)
  onTestFinished(remove)
  return createEmptyInstallation({ DATABASE_URL: url, ...environment })
}

export const payout = {
  currency: 'USDC',
  amount: '25.50',
  account_number: '9999999900',
  bank_name: 'Zenith Bank',
  bank_code: '057',
  recipient_name: 'Ngozi Obi',
  recipient_currency: 'NGN',
  recipient_country: 'Nigeria',
} as const
