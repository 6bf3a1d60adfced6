import { readConfig } from './config.ts'

// The service must continue without output if standard error is a closed pipe.
process.stderr.on('error', () => {})

const anywayFlag = '--anyway'

async function main(): Promise<void> {
  const config = readConfig()
  const [role, json = '{}'] = process.argv.slice(2).filter((argument) => argument !== anywayFlag)
  const details = JSON.parse(json)
  if (process.argv.includes(anywayFlag)) await (await import('./open-database.ts')).releaseDatabase(config.databaseUrl)
  if (role === 'writer') await (await import('./workers/writer.ts')).runWriter(config, details)
  else if (role === 'sender') await (await import('./workers/webhook-process.ts')).runSender(config, details)
  else if (role === 'backup') await (await import('./scheduled-backups.ts')).makeBackup(config, details)
  else if (role === 'console') await (await import('./serve-console.ts')).serveConsole(config)
  else if (role === 'reader') await (await import('./serve.ts')).serveAsReader(config, details)
  else if (config.workers > 1) await (await import('./workers/supervisor.ts')).supervise(config)
  else await (await import('./serve.ts')).serve(config)
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
