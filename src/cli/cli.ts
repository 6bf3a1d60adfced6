import { watchOutputErrors } from './output.ts'
import { runCommand } from './run.ts'

watchOutputErrors()
process.exitCode = await runCommand(process.argv.slice(2))
