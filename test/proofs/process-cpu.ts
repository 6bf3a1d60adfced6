import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Linux counts a process's time in hundredths of a second, whatever its clock ticks at (proc(5), USER_HZ). */
const msOfTick = 10

/** The milliseconds of processor that a process has taken until now. */
export function cpuMsOf(pid: number): number {
  if (process.platform === 'linux') {
    // Its name, in parentheses, may hold anything; behind it are eleven more before those of the user and the system.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * msOfTick
  }
  const parts = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/[:-]/)
  return parts.reduce((sum, part, place) => sum * (place === 1 && parts.length > 3 ? 24 : 60) + Number(part), 0) * 1_000
}
