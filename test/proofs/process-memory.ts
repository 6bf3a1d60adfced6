import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Returns a process's resident set in megabytes. */
export function memoryOf(pid: number): number {
  if (process.platform === 'linux') {
    const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  }
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024
}
