/** A group of source files, and the tests that must kill their mutants. */
export type Module = {
  readonly name: string
  /** Globs of source files. */
  readonly source: readonly string[]
  /** Globs of test files; tests that read source text can't run on instrumented source. */
  readonly tests: readonly string[]
  /** Minimum score in percent. */
  readonly target: number
  readonly engine?: 'postgres'
}

/** Tests of the schema and of the OpenAPI document. */
const schema = ['test/graphql/{declarations,schema}.test.ts', 'test/rest/openapi-changes.test.ts']
const rails = ['attention', 'cancel-payout', 'clock-ahead', 'reconcile', 'run-rails', 'timeline']

export const modules: readonly Module[] = [
  {
    name: 'money',
    source: ['src/core/money/*.ts'],
    tests: ['test/core/money/*.test.ts'],
    target: 95,
  },
  {
    name: 'ledger',
    source: ['src/modules/ledger/*.ts'],
    tests: [
      'test/modules/ledger/*.test.ts',
      'test/modules/deposits/deposit-to-wallet.test.ts',
      'test/graphql/statement-pages.test.ts',
      'test/lists/{cursor-names,sequence,slices}.test.ts',
      'test/modules/wallets/reverse-deposit.test.ts',
      ...schema,
    ],
    target: 95,
  },
  {
    name: 'idempotency',
    source: ['src/operations/idempotency/*.ts'],
    tests: [
      'test/operations/idempotency/*.test.ts',
      'test/rest/idempotency-key.test.ts',
      'test/modules/client-tokens/limits.test.ts',
    ],
    target: 95,
  },
  {
    name: 'payouts',
    source: ['src/modules/payouts/*.ts'],
    tests: [
      'test/modules/payouts/{amount,contents,create-payout,create-payout-refusals,fee-from-amount,get-payout-quote}.test.ts',
      'test/modules/payouts/{paying-wallet,payout-choices,payout-graphql,payout-of-nothing,quote,settle-payout}.test.ts',
      'test/modules/payouts/{simulate-payout,transaction-id,watch-payouts}.test.ts',
      'test/graphql/columns.test.ts',
      'test/modules/rails/{order,timeline}.test.ts',
      'test/rest/ignored-fields.test.ts',
      'test/lists/slices.test.ts',
      ...schema,
    ],
    target: 95,
  },
  {
    name: 'payout-transfers',
    source: ['src/modules/rail-orders/*.ts'],
    tests: [
      'test/modules/rail-orders/*.test.ts',
      'test/modules/payouts/{create-payout,paying-wallet,settle-payout,simulate-payout}.test.ts',
      `test/modules/rails/{${rails.join(',')}}.test.ts`,
      ...schema,
    ],
    target: 95,
  },
  {
    name: 'credentials',
    source: [
      'src/operations/access/*.ts',
      'src/operations/define-operation.ts',
      'src/modules/client-tokens/*.ts',
      'src/modules/merchants/{api-key,authenticate,client-token}.ts',
    ],
    tests: [
      'test/modules/client-tokens/{client-tokens,events,limits,refused-tokens,rest,scopes}.test.ts',
      'test/modules/merchants/keys.test.ts',
      'test/operations/define-operation.test.ts',
      'test/rest/keys.test.ts',
      'test/server/browser-api-keys.test.ts',
      ...schema,
    ],
    target: 95,
  },
  {
    name: 'rails',
    source: ['src/modules/rails/**/*.ts'],
    tests: ['test/modules/rails/*.test.ts', ...schema],
    target: 85,
  },
  {
    name: 'dispatch',
    source: ['src/modules/webhooks/dispatcher/*.ts'],
    tests: ['test/modules/webhooks/dispatcher/*.test.ts'],
    target: 85,
  },
  {
    name: 'delivery',
    source: ['src/modules/webhooks/transport/*.ts'],
    tests: ['test/modules/webhooks/transport/*.test.ts'],
    target: 85,
  },
  {
    name: 'deposits',
    source: ['src/modules/deposits/*.ts'],
    tests: [
      'test/modules/deposits/*.test.ts',
      'test/modules/wallets/{reverse-deposit,simulate-deposit}.test.ts',
      ...schema,
    ],
    target: 85,
  },
  {
    name: 'lists',
    source: ['src/lists/*.ts'],
    tests: [
      'test/lists/*.test.ts',
      'test/graphql/connections.test.ts',
      'test/modules/operators/list-across-merchants.test.ts',
      'test/modules/pricing/**/*.test.ts',
      'test/rest/lists.test.ts',
    ],
    target: 85,
  },
  {
    name: 'seals',
    source: ['src/modules/hash-chain/*.ts'],
    tests: ['test/modules/hash-chain/*.test.ts', 'test/observability/metrics/database-gauges.test.ts'],
    target: 85,
  },
  {
    name: 'exports',
    source: ['src/modules/exports/*.ts'],
    tests: [
      'test/modules/exports/*.test.ts',
      'test/console/wallet-page.test.ts',
      'test/contract/exports.test.ts',
      'test/graphql/statement-pages.test.ts',
      'test/modules/payouts/fee-from-amount.test.ts',
      ...schema,
    ],
    target: 85,
  },
  {
    name: 'database',
    source: [
      'src/database/{customer-scope,customer-tables,group-commit,merchant-scope,projection,query,query-nodes}.ts',
      'src/database/sqlite/{compile-for-sqlite,sqlite-connection,sqlite-reader,sqlite-writer,writer-epoch}.ts',
    ],
    tests: [
      'test/modules/client-tokens/{client-tokens,events,every-table,scopes}.test.ts',
      'test/database/{commit-callbacks,customer-scope,deadline,deferred-writes,projections,query,scope,unawaited-statements,values}.test.ts',
      'test/database/sqlite/{commit-watch,connection,epoch,reader,storage-failure,writer}.test.ts',
      'test/modules/events/wait.test.ts',
      'test/graphql/columns.test.ts',
      'test/operations/idempotency/parse-idempotency-key.test.ts',
      'test/lists/merged.test.ts',
    ],
    target: 85,
  },
  {
    name: 'database-postgres',
    source: [
      'src/database/postgres/{compile-for-postgres,pipeline,postgres-connection,postgres-errors,write-batcher}.ts',
      'src/database/postgres/{postgres-reader,postgres-writer,row-security,transaction,values}.ts',
    ],
    tests: [
      'test/database/{commit-callbacks,deadline,projections,query,unawaited-statements,values}.test.ts',
      'test/database/postgres/{row-security,write-batcher,writer}.test.ts',
    ],
    target: 85,
    engine: 'postgres',
  },
  {
    name: 'graphql',
    source: [
      'src/graphql/schema/connection.ts',
      'src/graphql/documents/{cost,limits,precheck,variables}.ts',
      'src/graphql/plan/*.ts',
    ],
    tests: [
      'test/graphql/{connections,cost,limits,nodes,plan-cache,plan-reads,plan-values,plans,prechecks,variables}.test.ts',
    ],
    target: 85,
  },
  {
    name: 'server',
    source: [
      'src/server/graphql/{stream-formats,stream-limiter}.ts',
      'src/server/http/{admission,http-errors,json-body,rate-limit,response-flush}.ts',
    ],
    tests: [
      'test/app/workers/rate-limit.test.ts',
      'test/modules/client-tokens/{events,limits}.test.ts',
      'test/graphql/{http,request-paths,streams}.test.ts',
      'test/rest/{keys,refusals,requests}.test.ts',
      'test/server/{bodies,browser-api-keys,graphql-sse,open-streams,response-flush,server}.test.ts',
    ],
    target: 85,
  },
]
