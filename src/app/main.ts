import { readConfig } from './config.ts'

// `node src/app/main.ts` is the service. With WORKERS it starts itself again in other roles: `reader`, `writer` and `sender`; and
// with BACKUP_DIR, for each backup, as `backup`.

// Whoever started the service may have stopped reading what it prints. It goes on without, as it does without its log
// (logger.ts): unhandled, the first line that nobody reads would end it.
process.stderr.on('error', () => {})

async function main(): Promise<void> {
  const config = readConfig()
  const [role, json = '{}'] = process.argv.slice(2)
  const details = JSON.parse(json)
  // Loaded by role, because most of the program is for those who answer requests.
  if (role === 'writer') await (await import('./workers/writer.ts')).runWriter(config, details)
  else if (role === 'sender') await (await import('./workers/webhook-process.ts')).runSender(config, details)
  else if (role === 'backup') await (await import('./scheduled-backups.ts')).makeBackup(config, details)
  else if (role === 'reader') await (await import('./serve.ts')).serveAsReader(config, details)
  else if (config.workers > 1) await (await import('./workers/supervisor.ts')).supervise(config)
  else await (await import('./serve.ts')).serve(config)
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
