/** The length of a run: for CI, for five minutes over all proofs, or without a time limit. */
export type Length = 'ci' | 'quick' | 'long'

/** Parameters of a run. */
export type Run = {
  readonly length: Length
  /** The seed of all randomness: the same seed repeats a run, as far as the machine's timing allows. */
  readonly seed: number
  /** Whether to remove the protection: the promise must then break, or the proof proves nothing. */
  readonly isControl: boolean
  /** An empty folder for this run, removed after it. */
  readonly folder: string
}

/** The result, for example `isHeld: true, figure: '200 kills, 0 lost of 41,210 acknowledged'`. */
export type Outcome = { readonly isHeld: boolean; readonly figure: string }

/** A promise of the service and a way to break it. */
export type Proof = {
  /** The promise in one line. */
  readonly promise: string
  /** The protection that the control removes, in one line. */
  readonly control: string
  /** Time limit of the proof, and of its control, in seconds. */
  readonly seconds: Readonly<Record<Length, number>>
  readonly run: (run: Run) => Promise<Outcome>
  /** Whether the proof measures time or memory, and so must run alone on the machine. */
  readonly isAlone?: boolean
  /** Describes a missing program, or `null`. Such a proof runs only by its name. */
  readonly missing?: () => string | null
}

/** Returns a generator of numbers in [0, 1) that depend only on the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
