import type { listen } from './listen.ts'

/** Reads the next `count` events of a stream. */
export async function readEvents({ next }: Awaited<ReturnType<typeof listen>>, count: number) {
  const events = []
  for (let i = 0; i < count; i++) events.push((await next()).data.eventPublished)
  return events
}

/** Returns the numbers between two numbers, inclusive. */
export const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
