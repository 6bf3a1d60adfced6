import { standardOutput } from '../../../src/app/logger.ts'

// Writes more than a pipe holds, then a line while that write blocks; reports on standard error when the line was due.
const log = standardOutput()
log.write(`${'x'.repeat(4_000_000)}\n`)
log.write('ready\n')
const afterwards = setInterval(() => {
  clearInterval(afterwards)
  process.stderr.write('due')
}, 50)
process.stdin.resume()
