import { demoApiKey } from '../../../src/demo/demo.ts'

/** The customer of the demo with a wallet that can pay. */
export async function adaAt(address: string): Promise<string> {
  const response = await fetch(`${address}/api/customers`, { headers: { 'x-api-key': demoApiKey } })
  const { data } = (await response.json()) as { data: { id: string; email: string }[] }
  return data.find(({ email }) => email === 'ada.obi@example.com')?.id ?? ''
}
