import { join } from 'node:path'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import type { Change } from '../changed-source.ts'
import { changeSource } from '../changed-source.ts'
import type { Watched, Watching } from '../clock-watch.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'

export const proof: Proof = {
  promise: 'clock steps of an hour in either direction break no promise of a running service',
  control: 'the monotonic clock, and a list’s latest time, when the system clock steps back',
  seconds: { ci: 120, quick: 120, long: 1_200 },
  run,
}

const forMs = { ci: 2_000, quick: 2_000, long: 120_000 }

/**
 * The process clock steps back with the system clock, and so do the times of rows, which contradicts the order of the
 * list.
 */
const goesBack: Change[] = [
  { file: 'src/core/ids-and-clock.ts', from: 'latest = Math.max(latest, clock())', to: 'latest = clock()' },
  {
    file: 'src/lists/sequence.ts',
    from: 'latestTime: latestTime < time ? time :',
    to: 'latestTime: latestTime !== time ? time :',
  },
]

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const changes = isControl ? goesBack : []
  changeSource(changes)
  const { watchSteps } = await import('../clock-watch.ts')
  const { findFaketime, startFaked, startInjected } = await import('../stepping-clocks.ts')
  const library = findFaketime()
  const postgres = isControl ? null : await startPostgresServer(nonDurableSettings)

  const file = async (name: string) => `sqlite:${join(folder, name)}`
  const clocks: Record<string, Pick<Watching, 'newUrl' | 'start'>> = {
    'a given clock': { newUrl: (name) => file(`given ${name}`), start: startInjected },
    ...(postgres && {
      'a given clock on PostgreSQL': { newUrl: (name) => newPostgresDatabase(postgres, name), start: startInjected },
    }),
    ...(library && {
      libfaketime: {
        newUrl: (name) => file(`faked ${name}`),
        start: (options) => startFaked(library, { ...options, folder, changes }),
      },
    }),
  }
  const random = randomFrom(seed)
  const all: (Watched & { name: string })[] = []
  try {
    for (const [name, clock] of Object.entries(clocks)) {
      all.push({ name, ...(await watchSteps({ ...clock, forMs: forMs[length], random })) })
    }
  } finally {
    await postgres?.remove()
  }
  const sum = (of: (watched: Watched) => number) => all.reduce((total, watched) => total + of(watched), 0)
  const figure =
    `${sum(({ steps }) => steps)} steps of ${Object.keys(clocks).join(', ')}${library ? '' : ' (libfaketime is not installed)'}; ` +
    `${sum(({ payouts }) => payouts).toLocaleString('en')} payouts, ${sum(({ walks }) => walks)} walks through all pages: ` +
    `${sum(({ faults }) => faults.length)} wrong` +
    all.flatMap(({ name, faults }) => faults.slice(0, 2).map((fault) => `; ${name}: ${fault}`)).join('')
  // With each clock the control must find faults of the clock.
  if (isControl)
    return { isHeld: all.some(({ faults }) => !faults.some((fault) => fault.includes('is older than'))), figure }
  return { isHeld: all.every(({ faults, walks }) => faults.length === 0 && walks > 0), figure }
}
