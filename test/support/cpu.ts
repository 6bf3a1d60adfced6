/** The CPU time of this process that some work takes, in milliseconds: what other processes do does not count, nor does waiting. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * The least of several turns, which is without the compiler and the garbage collector: those come and go.
 *
 * How fast a machine is nobody knows, so it is compared with that of something else, measured in the same run.
 */
export async function leastCpuMs(work: () => unknown): Promise<number> {
  const turns: number[] = []
  for (let turn = 0; turn < 5; turn++) turns.push(await cpuMs(work))
  return Math.min(...turns)
}
