import { execFileSync } from 'node:child_process'

/** Returns the path of a Node of this machine that is too old for the service, or `null`. */
export function findOlderNode(): string | null {
  try {
    const version = execFileSync('/usr/bin/node', ['--version'], { encoding: 'utf8' })
    return /^v(1[89]|2[01])\./.test(version) ? '/usr/bin/node' : null
  } catch {
    return null
  }
}
