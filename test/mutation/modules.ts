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
const schema = ['test/graphql/{declarations,schema}.test.ts', 'test/rest/openapi-recorded.test.ts']
const rails = ['attention', 'cancel-payout', 'clock-ahead', 'reconcile', 'run-rails', 'timeline']

export const modules: readonly Module[] = [
  {
    name: 'money',
    source: ['src/money/*.ts'],
    tests: ['test/money/*.test.ts'],
    target: 95,
  },
  {
    name: 'ledger',
    source: ['src/ledger/*.ts'],
    tests: [
      'test/ledger/*.test.ts',
      'test/deposits/deposit-to-wallet.test.ts',
      'test/graphql/statement-pages.test.ts',
      'test/lists/{browse,cursor-names,sequence}.test.ts',
      'test/wallets/reverse-deposit.test.ts',
      ...schema,
    ],
    target: 95,
  },
  {
    name: 'idempotency',
    source: ['src/idempotency/*.ts'],
    tests: ['test/idempotency/*.test.ts', 'test/rest/idempotency-key.test.ts', 'test/client-tokens/limits.test.ts'],
    target: 95,
  },
  {
    name: 'payouts',
    source: ['src/payouts/*.ts'],
    tests: [
      'test/payouts/{amount,contents,create-payout,create-payout-refusals,fee-from-amount,get-payout-quote}.test.ts',
      'test/payouts/{paying-wallet,payout-choices,payout-graphql,payout-of-nothing,quote,settle-payout}.test.ts',
      'test/payouts/{simulate-payout,transaction-id,watch-payouts}.test.ts',
      'test/graphql/columns.test.ts',
      'test/rails/{order,timeline}.test.ts',
      'test/rest/ignored-fields.test.ts',
      'test/lists/browse.test.ts',
      ...schema,
    ],
    target: 95,
  },
  {
    name: 'payout-transfers',
    source: ['src/payout-transfers/*.ts'],
    tests: [
      'test/payout-transfers/*.test.ts',
      'test/payouts/{create-payout,paying-wallet,settle-payout,simulate-payout}.test.ts',
      `test/rails/{${rails.join(',')}}.test.ts`,
      ...schema,
    ],
    target: 95,
  },
  {
    name: 'credentials',
    source: ['src/callers/*.ts', 'src/client-tokens/*.ts', 'src/merchants/{api-key,authenticate,client-token}.ts'],
    tests: [
      'test/client-tokens/{client-tokens,events,limits,refused-tokens,rest,scopes}.test.ts',
      'test/merchants/keys.test.ts',
      'test/rest/keys.test.ts',
      'test/server/key-of-page.test.ts',
      ...schema,
    ],
    target: 95,
  },
  {
    name: 'rails',
    source: ['src/rails/**/*.ts'],
    tests: ['test/rails/*.test.ts', ...schema],
    target: 85,
  },
  {
    name: 'dispatch',
    source: ['src/dispatch/*.ts'],
    tests: ['test/dispatch/*.test.ts'],
    target: 85,
  },
  {
    name: 'delivery',
    source: ['src/delivery/*.ts'],
    tests: ['test/delivery/*.test.ts'],
    target: 85,
  },
  {
    name: 'deposits',
    source: ['src/deposits/*.ts'],
    tests: ['test/deposits/*.test.ts', 'test/wallets/{reverse-deposit,simulate-deposit}.test.ts', ...schema],
    target: 85,
  },
  {
    name: 'lists',
    source: ['src/lists/*.ts'],
    tests: [
      'test/lists/*.test.ts',
      'test/graphql/connections.test.ts',
      'test/operators/list-across-merchants.test.ts',
      'test/{fees,rates}/*.test.ts',
      'test/rest/lists.test.ts',
    ],
    target: 85,
  },
  {
    name: 'seals',
    source: ['src/seals/*.ts'],
    tests: ['test/seals/*.test.ts', 'test/metrics/measure-store.test.ts'],
    target: 85,
  },
  {
    name: 'exports',
    source: ['src/exports/*.ts'],
    tests: [
      'test/exports/*.test.ts',
      'test/contract/exports.test.ts',
      'test/graphql/statement-pages.test.ts',
      'test/payouts/fee-from-amount.test.ts',
      ...schema,
    ],
    target: 85,
  },
  {
    name: 'database',
    source: [
      'src/database/{chosen-columns,customer-tables,deadline,one-customer,pending,query,scope}.ts',
      'src/database/sqlite/{commit-watch,compile-for-sqlite,epoch,sqlite-connection,sqlite-reader,sqlite-writer}.ts',
    ],
    tests: [
      'test/client-tokens/{client-tokens,events,every-table,scopes}.test.ts',
      'test/database/{chosen-columns,committed,deadline,left-running,one-customer,pending,query,scope,values}.test.ts',
      'test/database/sqlite/{commit-watch,epoch,reader,storage-failure,writer}.test.ts',
      'test/feed/wait.test.ts',
      'test/graphql/columns.test.ts',
      'test/idempotency/one-reading.test.ts',
      'test/lists/merged.test.ts',
    ],
    target: 85,
  },
  {
    name: 'database-postgres',
    source: [
      'src/database/postgres/{batch,compile-for-postgres,lanes,postgres-connection,postgres-errors}.ts',
      'src/database/postgres/{postgres-reader,postgres-writer,row-security,transaction,values}.ts',
    ],
    tests: [
      'test/database/{chosen-columns,committed,deadline,left-running,query,values}.test.ts',
      'test/database/postgres/{lanes,row-security,writer}.test.ts',
    ],
    target: 85,
    engine: 'postgres',
  },
  {
    name: 'graphql',
    source: ['src/graphql/{connection,cost,limits,precheck,variables}.ts', 'src/graphql/plan/*.ts'],
    tests: [
      'test/graphql/{asked-once,connections,cost,kept-plans,limits,nodes,plan-values,plans,prechecks,variables}.test.ts',
    ],
    target: 85,
  },
  {
    name: 'server',
    source: ['src/server/{admission,graphql-sse,held-streams,json-body,rate-limit,request-head,turn}.ts'],
    tests: [
      'test/app/workers/rate-limit.test.ts',
      'test/client-tokens/limits.test.ts',
      'test/graphql/{http,streams}.test.ts',
      'test/rest/{keys,requests}.test.ts',
      'test/server/{bodies,graphql-sse,held-streams,key-of-page,server,turn}.test.ts',
    ],
    target: 85,
  },
]
