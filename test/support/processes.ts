import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A child process of a supervisor. */
export type Worker = { readonly role: 'reader' | 'writer' | 'sender'; readonly pid: number }

/** Returns the running child processes of the supervisor `parent`. */
export function processesOf(parent: number): Worker[] {
  return processTable().flatMap(({ pid, ppid, state, args }) => {
    const [, role] = /main\.[jt]s (reader|writer|sender)\b/.exec(args) ?? []
    return ppid === parent && state !== 'Z' && role ? [{ role: role as Worker['role'], pid }] : []
  })
}

/** Returns every child process of `parent` with its title. */
export function childrenOf(parent: number): { readonly pid: number; readonly args: string }[] {
  return processTable().filter(({ ppid, state }) => ppid === parent && state !== 'Z')
}

type Entry = { readonly pid: number; readonly ppid: number; readonly state: string; readonly args: string }

/** Returns all processes from /proc, because not every image has `ps`. */
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
    // The name, in parentheses, may contain any character.
    const [state = '', ppid] = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return { pid: Number(name), ppid: Number(ppid), state, args }
  } catch {
    // The process has ended meanwhile.
    return null
  }
}

/** Returns whether a process exists; a killed process counts until its parent reaps it. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
