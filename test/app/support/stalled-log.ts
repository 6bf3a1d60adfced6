import { standardOutput } from '../../../src/app/logger.ts'

// Writes more at once than a pipe holds, and a line while that waits for its reader; says on standard error when the line was due.
const log = standardOutput()
log.write(`${'x'.repeat(4_000_000)}\n`)
log.write('ready\n')
const afterwards = setInterval(() => {
  clearInterval(afterwards)
  process.stderr.write('due')
}, 50)
process.stdin.resume()
