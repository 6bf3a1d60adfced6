/** Returns the CPU time of this process for some work, in milliseconds, without waits and other processes. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Returns the minimum of several runs, which excludes compilation and garbage collection.
 *
 * The speed of the machine is unknown, so compare the result with another measurement of the same run.
 */
export async function leastCpuMs(work: () => unknown): Promise<number> {
  const turns: number[] = []
  for (let turn = 0; turn < 5; turn++) turns.push(await cpuMs(work))
  return Math.min(...turns)
}
