/**
 * The files whose tests mainly start processes: the service, commands, PostgreSQL servers, proxies, packages and containers.
 * A start takes half a second of a core, so these tests have their own command, `npm run test:processes`.
 */
export const processTests: readonly string[] = [
  'app/{closed-output,compile-cache,console-process,env-file,node-version,removed-files,scheduled-backups,start}',
  'app/workers/{processes,suspended-processes}',
  'cli/{backup-postgres,cli,closed-output,copy,events,exports,find,restore,terminal,trusted-documents}',
  'clients/{package,retries,streams,tokens}',
  'contract/provider-client',
  'database/new-table',
  'database/postgres/{failover,failure,open,start-server}',
  'database/sqlite/{database-file,migrate,storage-failure}',
  'deploy/{image,package,postgres-docs,reverse-proxies}',
  'examples/{deposit-node,front-end-guide,rail-servers,webhook-receiver}',
  'graphql/{compiled-strings,killed-event-stream,schema-changes}',
  'modules/rails/{check-rail,report-script}',
  'observability/metrics/{deploy,off,processes}',
  'observability/tracing/{callers,collectors,off,spans}',
  'rest/openapi-changes',
].map((path) => `test/${path}.test.ts`)
