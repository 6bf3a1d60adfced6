import { execFileSync } from 'node:child_process'

/** A process that a service with WORKERS consists of, beside its supervisor. */
export type Worker = { readonly role: 'reader' | 'writer'; readonly pid: number }

/** The processes that the supervisor `parent` has started and that are there, the oldest of a role first. */
export function processesOf(parent: number): Worker[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, ppid, role] = /^\s*(\d+)\s+(\d+)\s+[^Z\s]\S*\s.*main\.ts (reader|writer)\b/.exec(line) ?? []
    return Number(ppid) === parent ? [{ role: role as Worker['role'], pid: Number(pid) }] : []
  })
}

/** Whether there is such a process; one that was killed and that nobody has asked about may still count. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
