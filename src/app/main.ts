import { readConfig } from './config.ts'

// The service starts this file again in other roles: `reader`, `writer` and `sender` if WORKERS is above 1, and
// `backup` for each backup to BACKUP_DIR.

// An unhandled error of a closed pipe would end the service. It continues without output, as it does if its log cannot
// be written (logger.ts).
process.stderr.on('error', () => {})

async function main(): Promise<void> {
  const config = readConfig()
  const [role, json = '{}'] = process.argv.slice(2)
  const details = JSON.parse(json)
  // Each role loads only its own modules, because most modules are for requests.
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
