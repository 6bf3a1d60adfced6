import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process that a service with WORKERS consists of, beside its supervisor. */
export type Worker = { readonly role: 'reader' | 'writer' | 'sender'; readonly pid: number }

/** The processes that the supervisor `parent` has started and that are there. */
export function processesOf(parent: number): Worker[] {
  return processTable().flatMap(({ pid, ppid, state, args }) => {
    const [, role] = /main\.ts (reader|writer|sender)\b/.exec(args) ?? []
    return ppid === parent && state !== 'Z' && role ? [{ role: role as Worker['role'], pid }] : []
  })
}

/** Every process that `parent` has started, and what it calls itself. */
export function childrenOf(parent: number): { readonly pid: number; readonly args: string }[] {
  return processTable().filter(({ ppid, state }) => ppid === parent && state !== 'Z')
}

type Entry = { readonly pid: number; readonly ppid: number; readonly state: string; readonly args: string }

/** All processes; from where Linux shows them, because not every image has `ps`. */
function processTable(): Entry[] {
  if (process.platform === 'linux') return readdirSync('/proc').flatMap((name) => entryOf(name) ?? [])
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, ppid, state = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(\S)\S*\s(.*)/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), ppid: Number(ppid), state, args }]
  })
}

function entryOf(name: string): Entry | null {
  if (!/^\d+$/.test(name)) return null
  try {
    // Its name, in parentheses, may hold anything.
    const [state = '', ppid] = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return { pid: Number(name), ppid: Number(ppid), state, args }
  } catch {
    // It has ended meanwhile.
    return null
  }
}

/** Whether there is such a process; one that was killed and that nobody has asked about may still count. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
