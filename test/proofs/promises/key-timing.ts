import { join } from 'node:path'
import type { Service } from '../../../src/operations/context.ts'
import type { Change } from '../changed-source.ts'
import { changeSource } from '../changed-source.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'

export const proof: Proof = {
  promise: 'the response time of a 401 does not reveal whether a key id exists: |Welch t| < 4.5',
  control: 'the same code path for existing and unknown key ids',
  seconds: { ci: 90, quick: 90, long: 600 },
  run,
  isAlone: true,
}

/** Keys of each kind in one measurement, and number of measurements. */
const tries = 10_000
const measurements = { ci: 3, quick: 3, long: 31 }
const threshold = 4.5

/** Without the protection, an unknown key is rejected immediately. */
const earlyExit: Change = {
  file: 'src/modules/merchants/authenticate.ts',
  from: '  const row = await apiKeyById(service.db, { id })',
  to: `  const row = await apiKeyById(service.db, { id })
  if (!row) throw new DomainError('INVALID_TOKEN', dummySecretHash)`,
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  if (isControl) changeSource([earlyExit])
  const { startDemo } = await import('../demo-service.ts')
  const { demoKey } = await import('../../../src/demo/demo.ts')
  const { authenticate } = await import('../../../src/modules/merchants/authenticate.ts')
  const { formatApiKey, newApiKey } = await import('../../../src/modules/merchants/api-key.ts')
  const { service, apiKey, end } = await startDemo(`sqlite:${join(folder, 'payouts.sqlite')}`)
  const random = randomFrom(seed)
  // An idle service has no timing to hide.
  await authenticate(service, apiKey)

  const measured: Measured[] = []
  for (let i = 0; i < measurements[length]; i++) {
    const known = Array.from({ length: tries }, () => formatApiKey({ ...newApiKey('sandbox'), id: demoKey.id }))
    const unknown = known.map(() => formatApiKey(newApiKey('sandbox')))
    const keys = [...known.map((key) => ({ key, isKnown: true })), ...unknown.map((key) => ({ key, isKnown: false }))]
    // Serializes and parses each key again, so that neither string representation nor memory location affects the
    // time.
    const tried = JSON.parse(JSON.stringify(shuffled(keys, random))) as Try[]
    measured.push(await measure(service, authenticate, tried))
  }
  await end()
  // Other load on the machine may look like a difference once, in either direction; a real difference appears every
  // time.
  const middle = measured.toSorted((a, b) => a.t - b.t)[(measured.length - 1) / 2] as Measured
  const figure =
    `t = ${middle.t.toFixed(1)}, the median of ${measured.map(({ t }) => t.toFixed(1)).join(', ')}, with ${tries.toLocaleString('en')} tries each; ` +
    `existing ids take ${middle.differenceNs.toFixed(0)} ns longer, of ${(middle.meanNs / 1000).toFixed(1)} µs`
  return { isHeld: Math.abs(middle.t) < threshold, figure }
}

type Try = { readonly key: string; readonly isKnown: boolean }
type Authenticate = (service: Service, presented: string) => unknown
type Measured = { readonly t: number; readonly differenceNs: number; readonly meanNs: number }

/** Welch's t of both kinds' times; the slowest 1 % is noise of the machine that would hide any difference. */
async function measure(service: Service, authenticate: Authenticate, tried: readonly Try[]): Promise<Measured> {
  const timed = new Float64Array(tried.length)
  for (let round = 0; round < 2; round++) {
    // The first tenth of the first round is warm-up.
    const count = round === 0 ? tried.length / 10 : tried.length
    for (let i = 0; i < count; i++) {
      const { key } = tried[i] as Try
      const startedAt = process.hrtime.bigint()
      try {
        await authenticate(service, key)
        throw new Error('the service accepted an invalid key')
      } catch (error) {
        timed[i] = Number(process.hrtime.bigint() - startedAt)
        if ((error as { code?: unknown }).code !== 'INVALID_TOKEN') throw error
      }
    }
  }
  const longest = timed.toSorted()[Math.floor(timed.length * 0.99)] as number
  const ofKind = (kind: boolean) => [...timed].filter((ns, i) => ns <= longest && tried[i]?.isKnown === kind)
  const [known, unknown] = [momentsOf(ofKind(true)), momentsOf(ofKind(false))]
  const differenceNs = known.mean - unknown.mean
  return { t: differenceNs / Math.sqrt(known.meanVariance + unknown.meanVariance), differenceNs, meanNs: known.mean }
}

function momentsOf(numbers: readonly number[]): { mean: number; meanVariance: number } {
  const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length
  const squares = numbers.reduce((sum, each) => sum + (each - mean) ** 2, 0)
  return { mean, meanVariance: squares / (numbers.length - 1) / numbers.length }
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const copy = [...items]
  for (let i = copy.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1))
    ;[copy[i], copy[other]] = [copy[other] as Item, copy[i] as Item]
  }
  return copy
}
