/** How much is done: what CI runs, what fits into five minutes for all proofs, and what takes as long as it takes. */
export type Length = 'ci' | 'quick' | 'long'

/** What a proof is given. */
export type Run = {
  readonly length: Length
  /** Where all chance comes from: the same seed does the same, as far as the machine lets it. */
  readonly seed: number
  /** Removes the protection: the promise must then be seen broken, or the proof proves nothing. */
  readonly isControl: boolean
  /** An empty folder of the run's own, removed after it. */
  readonly folder: string
}

/** What was seen, for example `isHeld: true, figure: '200 kills, 0 lost of 41,210 acknowledged'`. */
export type Outcome = { readonly isHeld: boolean; readonly figure: string }

/** A promise of the service, and a way to break it. */
export type Proof = {
  /** One line: what is promised. */
  readonly promise: string
  /** One line: which protection the control removes. */
  readonly control: string
  /** At most so many seconds, after which the proof has failed; its control may take as long again. */
  readonly seconds: Readonly<Record<Length, number>>
  readonly run: (run: Run) => Promise<Outcome>
  /** Whether it measures time or memory, and so must not share the machine with another proof. */
  readonly isAlone?: boolean
  /** What must be installed here first, in words; `null` for nothing. Such a proof runs only by its name. */
  readonly missing?: () => string | null
}

/** Numbers from 0 to below 1, always the same for a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
