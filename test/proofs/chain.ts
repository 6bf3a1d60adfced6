import { createHash } from 'node:crypto'

/** A transfer to a watched address on any chain. */
export type ChainEvent = {
  readonly ref: string
  readonly network: string
  readonly tx_hash: string
  readonly log_index: number
  readonly asset: string
  readonly amount: string
}

/** A report of a transfer. */
export type Sighting = ChainEvent & { readonly confirmations: number; readonly state: string }

/** A watched address, and the number of confirmations after which its network counts as final. */
export type Address = {
  readonly ref: string
  readonly network: string
  readonly asset: string
  readonly needed: number
}

type Place = { readonly network: string; readonly needed: number; readonly addresses: readonly Address[] }

/** A chain of random blocks with occasional reorganisations; dropped transfers are mined again, or never. */
export function startChain({ network, needed, addresses }: Place, random: () => number) {
  const blocks: ChainEvent[][] = []
  let waiting: ChainEvent[] = []
  let transferCount = 0

  function mine({ isBusy }: { isBusy: boolean }): void {
    const again = waiting.filter(() => random() < 0.5 || !isBusy)
    waiting = waiting.filter((event) => !again.includes(event))
    const fresh = isBusy && random() < 0.7 ? transaction() : []
    blocks.push([...again, ...fresh])
  }

  function letGo(): void {
    const chance = random()
    // Rarely deeper than the confirmations that anyone waits for.
    const maxDepth = chance < 0.7 ? 3 : chance < 0.9 ? needed : needed + 10
    const depth = chance < 0.9 ? 1 + Math.floor(random() * maxDepth) : maxDepth
    const removed = blocks.splice(Math.max(0, blocks.length - depth)).flat()
    waiting.push(...removed.filter(() => random() < 0.7))
  }

  /** One or two identical transfers, which differ only in their positions. */
  function transaction(): ChainEvent[] {
    const tx_hash = hashOf(network, `${network} ${transferCount}`)
    return Array.from({ length: random() < 0.2 ? 2 : 1 }, (_, log_index) => {
      const { ref, asset } = addresses[Math.floor(random() * addresses.length)] as Address
      transferCount++
      return {
        ref,
        network,
        tx_hash,
        log_index,
        asset,
        amount: `${1 + Math.floor(random() * 50)}.${10_000_000 + transferCount}`,
      }
    })
  }

  /** Every transfer on the chain, with its confirmations. */
  function sightings(): Map<string, Sighting> {
    const seen = new Map<string, Sighting>()
    for (const [height, events] of blocks.entries()) {
      const confirmations = blocks.length - height
      for (const event of events) seen.set(nameOf(event), { ...event, confirmations, state: 'DETECTED' })
    }
    return seen
  }

  return { network, needed, mine, letGo, sightings }
}

export type Chain = ReturnType<typeof startChain>

/** The identity of a transfer. */
function nameOf({ network, tx_hash, log_index }: ChainEvent): string {
  return `${network}:${tx_hash}:${log_index}`
}

function hashOf(network: string, name: string): string {
  const digits = createHash('sha256').update(name).digest('hex')
  return network === 'trc20' ? digits : `0x${digits}`
}

/**
 * A watcher whose node sometimes lags. It sends its reports in any order, some twice, some never. It repeats the
 * reports of a confirmed transfer, and finally of a dropped one, until the service accepts them.
 */
export function startNode(chains: readonly Chain[], random: () => number) {
  const known = new Map<string, Sighting>()
  const dropped = new Map<string, Sighting>()
  /** Transfers that it has seen with enough confirmations. */
  const final = new Map<string, Sighting>()
  let pending: Sighting[] = []

  function look(): void {
    for (const chain of chains) {
      const seen = chain.sightings()
      for (const [name, sighting] of seen) see(name, sighting, chain.needed)
      for (const [name, sighting] of known) {
        if (sighting.network === chain.network && !seen.has(name)) lose(name, sighting)
      }
    }
  }

  function see(name: string, sighting: Sighting, needed: number): void {
    const before = known.get(name)
    known.set(name, sighting)
    dropped.delete(name)
    if (sighting.confirmations >= needed && !final.has(name)) {
      final.set(name, sighting)
      pending.push({ ...sighting, state: 'CONFIRMED' })
    } else if (before === undefined || random() < 0.1) maybeReport(sighting)
  }

  function lose(name: string, sighting: Sighting): void {
    known.delete(name)
    const report = { ...sighting, confirmations: 0, state: 'REORGED' }
    dropped.set(name, report)
    maybeReport(report)
  }

  function maybeReport(sighting: Sighting): void {
    const times = random() < 0.1 ? 0 : random() < 0.2 ? 2 : 1
    for (let i = 0; i < times; i++) pending.push(sighting)
  }

  /** Some of its pending reports in any order. */
  function take(): Sighting[] {
    const taken = pending.filter(() => random() < 0.4).slice(0, 1 + Math.floor(random() * 30))
    pending = pending.filter((sighting) => !taken.includes(sighting))
    return taken.sort(() => random() - 0.5)
  }

  function tellAgain(sightings: readonly Sighting[]): void {
    pending.push(...sightings)
  }

  return { look, take, tellAgain, gone: dropped, final, isDone: () => pending.length === 0 }
}

export type ChainNode = ReturnType<typeof startNode>
