import { randomInt } from 'node:crypto'
import { getIntrospectionQuery } from 'graphql'
import { describe, expect, test } from 'vitest'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { randomFrom } from '../proofs/proof.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, everyExecutor, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'
import type { PathAnswer, RequestDocument } from './support/execution-comparison.ts'
import { bothWays, compareWays } from './support/execution-comparison.ts'
import { collectKnownValues, randomDocuments } from './support/random-documents.ts'
import { seedRichData } from './support/rich-world.ts'

/** One merchant's data, and both executors. */
async function startBothWays(engine: Engine) {
  const app = await startApp(engine)
  const personId = await app.customer()
  const companyId = await app.customer({ customerType: 'business', businessName: 'Obi Ltd' })
  const walletId = await app.wallet({ balance: '100' })
  const customerWalletId = await app.wallet({ balance: '50', customerId: personId })
  await app.wallet({ assetCode: 'NGN', customerId: companyId })
  const bank = await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, sort_code: '040' } })
  await app.rest('POST', '/api/payout/methods/wallets', { body: { ...walletMethodBody, customer_id: personId } })
  const { body: first } = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
  await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, customer_id: personId, amount: '7.5' } })
  await settlePayout(app.context(), { payoutId: first.data.id, status: 'COMPLETED' })
  const { planned, reference } = bothWays(app.service, app.merchant.id)
  return {
    ids: {
      personId,
      companyId,
      walletId,
      customerWalletId,
      merchantId: app.merchant.id,
      bankId: bank.body.data.id as string,
      payoutId: first.data.id,
    },
    /**
     * The response of the interpreter, which a new and a cached plan must produce byte for byte; and whether a
     * plan did.
     */
    async sameAnswer(document: RequestDocument): Promise<PathAnswer> {
      const { text } = await reference(document)
      const first = await planned(document)
      const second = await planned(document)
      expect(first.text, document.query).toBe(text)
      expect(second, document.query).toEqual(first)
      return second
    },
  }
}

type Ids = Awaited<ReturnType<typeof startBothWays>>['ids']

/** Documents that a plan executes. */
const plannedDocuments: Record<string, (ids: Ids) => RequestDocument> = {
  'one field': () => ({ query: '{merchant{name}}' }),
  '__typename everywhere': ({ walletId }) => ({
    query: `query($id: ID!){__typename merchant{__typename} wallet(id:$id){__typename customer{__typename}}
      wallets{__typename edges{__typename node{__typename addresses{__typename}}} pageInfo{__typename}}
      payoutMethods{nodes{__typename}}}`,
    variables: { id: walletId },
  }),
  '__typename before and after fields': () => ({ query: '{a:__typename merchant{z:__typename name y:__typename}}' }),
  'members in the order of the query': () => ({
    query: '{customers{totalCount nodes{status email uuid phone id}} merchant{name}}',
  }),
  'the same in reverse order': () => ({
    query: '{merchant{name} customers{nodes{id phone uuid email status} totalCount}}',
  }),
  'aliases of one field': () => ({ query: '{b:merchant{x:name a:name name} a:merchant{name}}' }),
  'aliases with different arguments': () => ({
    query: '{two:customers(first:2){nodes{email}} one:customers(first:1){nodes{email}}}',
  }),
  'a fragment': () => ({ query: '{merchant{...F}} fragment F on Merchant{name uuid}' }),
  'a fragment in two places': () => ({
    query: '{a:merchant{...F} b:merchant{uuid ...F}} fragment F on Merchant{name}',
  }),
  'fragments within fragments': () => ({
    query: `{wallets{nodes{...W}}} fragment W on Wallet{balance customer{...C}}
      fragment C on Customer{email address{...A}} fragment A on Address{city}`,
  }),
  'a fragment on an interface': ({ walletId }) => ({
    query: 'query($id:ID!){node(id:$id){...N}} fragment N on Node{id __typename}',
    variables: { id: walletId },
  }),
  'a fragment on an interface within an object': () => ({ query: '{merchant{name ... on Node{id}}}' }),
  'inline fragments without a type': () => ({ query: '{merchant{...{name ...{uuid}}}}' }),
  'inline fragments of a union': () => ({
    query: '{payoutMethods{nodes{... on BankPayoutMethod{bankName} __typename ... on WalletPayoutMethod{network}}}}',
  }),
  'one branch of a union': () => ({ query: '{payoutMethods{nodes{... on WalletPayoutMethod{walletAddress}}}}' }),
  'an interface of a union': () => ({
    query: '{payoutMethods{nodes{... on Node{id ... on BankPayoutMethod{bankCode}}}}}',
  }),
  'a union within a union': ({ payoutId }) => ({
    query: `query($id:ID!){payout(id:$id){recipientMethod{__typename ... on BankPayoutMethod{customer{payoutMethods{nodes{
      ... on WalletPayoutMethod{label}}}}}}}}`,
    variables: { id: payoutId },
  }),
  'different fields under one name for each type': () => ({
    query:
      '{payoutMethods{nodes{... on BankPayoutMethod{what:bankName} ... on WalletPayoutMethod{what:walletAddress}}}}',
  }),
  'all kinds of nodes': ({ walletId, personId, bankId, payoutId }) => ({
    query: `query($ids:[ID!]!){nodes(ids:$ids){__typename id ... on Wallet{balance} ... on Customer{email personalInfo{firstName}}
      ... on BankPayoutMethod{checks{code outcome}} ... on Payout{events{status} wallet{currency}}}}`,
    variables: { ids: [walletId, personId, bankId, payoutId, 'nothing'] },
  }),
  'one id where a list is expected': ({ walletId }) => ({
    query: 'query($ids:[ID!]!){nodes(ids:$ids){id}}',
    variables: { ids: walletId },
  }),
  'a list of ids with a duplicate': ({ merchantId }) => ({
    query: 'query($ids:[ID!]!){nodes(ids:$ids){... on Merchant{name wallets{totalCount}}}}',
    variables: { ids: [merchantId, merchantId] },
  }),
  'no ids': () => ({ query: 'query($ids:[ID!]!){nodes(ids:$ids){id}}', variables: { ids: [] } }),
  'a number for an id': () => ({ query: 'query($id:ID!){wallet(id:$id){id}}', variables: { id: 12 } }),
  'a number for an id, written out': () => ({ query: '{wallet(id:12){id}}' }),
  'an enum as a literal': () => ({ query: '{assetCodes(assetType:FIAT){nodes{code assetType networks{network}}}}' }),
  'an enum as a variable': () => ({
    query: 'query($t:AssetType!){assetCodes(assetType:$t){nodes{code networks{network}}}}',
    variables: { t: 'STABLECOIN' },
  }),
  'an enum default': () => ({ query: 'query($t:AssetType=FIAT){assetCodes(assetType:$t){nodes{code}}}' }),
  'a default that a value overrides': () => ({
    query: 'query($t:AssetType=FIAT){assetCodes(assetType:$t){nodes{code}}}',
    variables: { t: 'STABLECOIN' },
  }),
  'a default that null overrides': () => ({
    query: 'query($t:AssetType=FIAT){assetCodes(assetType:$t){nodes{code}}}',
    variables: { t: null },
  }),
  'a default number': () => ({ query: 'query($n:Int=1){customers(first:$n){nodes{email}}}' }),
  'an absent variable': () => ({ query: 'query($n:Int){customers(first:$n){nodes{email}}}' }),
  'an undeclared variable': () => ({ query: '{merchant{name}}', variables: { other: 1 } }),
  'null as a literal': () => ({ query: '{customers(first:null after:null filter:null){nodes{email}}}' }),
  'an input object as a variable': () => ({
    query: 'query($f:WalletFilter){wallets(filter:$f){nodes{currency}}}',
    variables: { f: { status: 'ACTIVE', currency: 'USDC' } },
  }),
  'fields that merge': () => ({ query: '{merchant{name} merchant{uuid} merchant{name createdAt}}' }),
  'lists that merge': () => ({
    query:
      '{customers{nodes{email}} customers{totalCount nodes{phone address{city}}} customers{nodes{address{country}}}}',
  }),
  'fields that merge with fragments': () => ({
    query: '{wallets{nodes{...A ... on Wallet{customer{phone}}}}} fragment A on Wallet{customer{email} balance}',
  }),
  'edges and nodes': () => ({
    query: '{customers(first:1){edges{cursor node{email}} nodes{email} pageInfo{endCursor hasNextPage}}}',
  }),
  'nested lists': () => ({
    query:
      '{customers(first:5){nodes{email wallets(first:5){nodes{balance ledgerEntries(first:5){nodes{amount kind payout{amount}}}}}}}}',
  }),
  backwards: () => ({ query: '{payouts(last:1){nodes{amount}pageInfo{hasPreviousPage startCursor}}}' }),
  'null values': ({ bankId }) => ({
    query: 'query($id:ID!){payoutMethod(id:$id){... on BankPayoutMethod{iban customer{email}}}wallet(id:$id){id}}',
    variables: { id: bankId },
  }),
  'every scalar': ({ payoutId }) => ({
    query: `query($id:ID!){payout(id:$id){id uuid amount fee exchangeRate amountFiat createdAt paymentPurpose status
      reason events{status cause createdAt} checks{field code outcome message}}}`,
    variables: { id: payoutId },
  }),
  'a quote': () => ({
    query: `query($i:PayoutQuoteInput!){payoutQuote(input:$i){__typename ... on PayoutQuote{amount total balanceAfter
      wallet{currency}}}}`,
    variables: { i: { assetCode: 'USDC', amount: '1', recipient: { currency: 'NGN' } } },
  }),
  'a quote with a domain error': () => ({
    query: `query($i:PayoutQuoteInput!){payoutQuote(input:$i){... on UserError{code message field}
      ... on InsufficientFundsError{available required}}}`,
    variables: { i: { assetCode: 'USDC', amount: '1000', recipient: { currency: 'NGN' } } },
  }),
  requirements: () => ({
    query:
      'query($c:String!){payoutMethodRequirements(currency:$c){type fields{name maxLength pattern allowedValues checks}}}',
    variables: { c: 'NGN' },
  }),
  'a one-of variable': ({ personId }) => ({
    query: 'query($o:OwnerFilter!){wallets(filter:{owner:$o}){nodes{balance}}}',
    variables: { o: { customerId: personId } },
  }),
  'an enum with a different internal value': () => ({
    query: 'query($s:WalletStatus!){wallets(filter:{status:$s}){nodes{status addresses{network}}}}',
    variables: { s: 'ACTIVE' },
  }),
  'a list below an alias that joins to its path': ({ personId }) => ({
    query:
      'query($c:ID!){customer(id:$c){wallets{edges{node{balance}}}} wallets_customer:wallets(first:2){nodes{currency}}}',
    variables: { c: personId },
  }),
  'a list alongside an alias that joins to the end of its path': ({ personId }) => ({
    query:
      'query($c:ID!){customer(id:$c){wallets{edges{node{balance}}} wallets_customer:wallets(first:2){nodes{currency}}}}',
    variables: { c: personId },
  }),
  'aliases with a meaning in JavaScript': () => ({
    query:
      '{constructor:merchant{toString:name hasOwnProperty:name prototype:name} default:merchant{null:name this:name}}',
  }),
  'aliases like the names of generated code': () => ({
    query: '{idx0:customers{nodes{__concrete:email __parent:phone __context:status}} err:merchant{result:name}}',
  }),
  'aliases that join to the path of another': () => ({
    query: '{m:merchant{w:wallets(first:1){nodes{id customer{email}}}} w_m:customers(first:1){nodes{email}}}',
  }),
  'no ids, written out': () => ({ query: '{nodes(ids:[]){id}}' }),
  'ids in a list of variables': ({ walletId, personId }) => ({
    query: 'query($a:ID!,$b:ID!){nodes(ids:[$a,$b,$a]){id}}',
    variables: { a: walletId, b: personId },
  }),
  'an enum default within an object': () => ({
    query: 'query($f:WalletFilter={status:ACTIVE assetType:FIAT}){wallets(filter:$f){nodes{currency}}}',
  }),
  'null within a literal': () => ({ query: '{wallets(filter:{status:null owner:null}){totalCount}}' }),
  'a one-of literal': () => ({ query: '{wallets(filter:{owner:{merchant:true}}){nodes{balance}}}' }),
  'a one-of literal with a variable': ({ personId }) => ({
    query: 'query($c:ID!){wallets(filter:{owner:{customerId:$c}}){nodes{balance}}}',
    variables: { c: personId },
  }),
  'an absent variable in an input object': () => ({
    query: 'query($s:WalletStatus,$c:String){wallets(filter:{status:$s currency:$c}){totalCount}}',
    variables: { c: 'USDC' },
  }),
  'a null variable in an input object': () => ({
    query: 'query($s:WalletStatus){wallets(filter:{status:$s}){totalCount}}',
    variables: { s: null },
  }),
  'a quote with invalid fields': () => ({
    query: `query($a:Amount!){payoutQuote(input:{assetCode:USDC amount:$a recipient:{currency:NGN}}){
      ... on InvalidInputError{__typename code fields{field code message}}}}`,
    variables: { a: '-1' },
  }),
  'an operation by its name': () => ({ query: 'query A{merchant{name}} query B{merchant{uuid}}', operationName: 'B' }),
  'the other operation by its name': () => ({
    query: 'query A{merchant{name}} query B{merchant{uuid}}',
    operationName: 'A',
  }),
  'operations that share a fragment': () => ({
    query: 'query A{merchant{...F}} query B{merchant{uuid ...F}} fragment F on Merchant{name}',
    operationName: 'B',
  }),
  'a string as a literal': () => ({ query: '{wallets(filter:{currency:"USDC"}){totalCount}}' }),
  'a block string': () => ({ query: '{wallets(filter:{currency:"""\n  USDC\n"""}){totalCount}}' }),
  '@include with true': () => ({
    query: 'query($a:Boolean!){merchant{name @include(if:$a) uuid}}',
    variables: { a: true },
  }),
  '@include with false': () => ({
    query: 'query($a:Boolean!){merchant{name @include(if:$a) uuid}}',
    variables: { a: false },
  }),
  '@skip with true': () => ({ query: 'query($a:Boolean!){merchant{name @skip(if:$a) uuid}}', variables: { a: true } }),
  '@skip and @include': () => ({
    query: 'query($a:Boolean!,$b:Boolean!){merchant{name @skip(if:$a) @include(if:$b) uuid}}',
    variables: { a: false, b: true },
  }),
  '@include that leaves nothing': () => ({ query: '{merchant{name @include(if:false)}}' }),
  '@include at the root': () => ({ query: '{merchant @include(if:false){name}}' }),
  '@include on a fragment': () => ({
    query: 'query($a:Boolean!){merchant{uuid ...F @include(if:$a)}} fragment F on Merchant{name}',
    variables: { a: false },
  }),
  '@include on an inline fragment': () => ({
    query: 'query($a:Boolean!){payoutMethods{nodes{__typename ... on BankPayoutMethod @include(if:$a){bankName}}}}',
    variables: { a: false },
  }),
  '@include on one use of a fragment': () => ({
    query: 'query($a:Boolean!){a:merchant{...F @include(if:$a)} b:merchant{...F}} fragment F on Merchant{name}',
    variables: { a: false },
  }),
  '@include on one of two spreads': () => ({
    query: 'query($a:Boolean!){merchant{...F @include(if:$a) ...F}} fragment F on Merchant{name}',
    variables: { a: false },
  }),
  '@include on one of two fields that merge': () => ({
    query: 'query($a:Boolean!){merchant @include(if:$a){...{name}} merchant{uuid}}',
    variables: { a: false },
  }),
  '@include in the other operation': () => ({
    query: 'query A($a:Boolean!){merchant{...F @include(if:$a)}} query B{merchant{...F}} fragment F on Merchant{name}',
    operationName: 'B',
  }),
  '@include with a default': () => ({ query: 'query($a:Boolean=false){merchant{uuid name @include(if:$a)}}' }),
  '__proto__ as an alias': () => ({ query: '{merchant{__proto__:name}}' }),
  '__proto__ as an alias of an object': () => ({ query: '{__proto__:merchant{name}}' }),
  '__proto__ as a variable': ({ walletId }) => ({
    query: 'query($__proto__:ID!){wallet(id:$__proto__){balance}}',
    variables: JSON.parse(`{"__proto__":"${walletId}"}`),
  }),
  'a default of a non-null type': () => ({ query: 'query($n:Int!=1){customers(first:$n){nodes{email}}}' }),
}

/** Valid documents that graphql-js executes: introspection. */
const keptDocuments: Record<string, (ids: Ids) => RequestDocument> = {
  'the whole schema': () => ({
    query: getIntrospectionQuery({
      oneOf: true,
      specifiedByUrl: true,
      inputValueDeprecation: true,
      schemaDescription: true,
    }),
  }),
  'the root types': () => ({ query: '{__schema{queryType{name} mutationType{name} subscriptionType{name}}}' }),
  'a type by a variable': () => ({
    query: 'query($n:String!){__type(name:$n){kind name fields{name type{kind name ofType{name}}} enumValues{name}}}',
    variables: { n: 'Wallet' },
  }),
  'a type by its name': () => ({ query: '{__type(name:"Wallet"){name fields{name}}}' }),
}

/** Documents that are rejected or have errors. */
const faultyDocuments: Record<string, (ids: Ids) => RequestDocument> = {
  'no document': () => ({ query: '{' }),
  'an unknown field': () => ({ query: '{nothing}' }),
  'two operations and no name': () => ({ query: 'query A{merchant{name}} query B{merchant{uuid}}' }),
  'an unknown operation name': () => ({ query: 'query A{merchant{name}}', operationName: 'C' }),
  'a variable of the wrong type': () => ({
    query: 'query($n:Int){customers(first:$n){nodes{id}}}',
    variables: { n: 'x' },
  }),
  'a variable beyond 32 bits': () => ({
    query: 'query($n:Int){customers(first:$n){nodes{id}}}',
    variables: { n: 2 ** 31 },
  }),
  'null for a non-null variable': () => ({ query: 'query($id:ID!){wallet(id:$id){id}}', variables: { id: null } }),
  'an absent non-null variable': () => ({ query: 'query($id:ID!){wallet(id:$id){id}}' }),
  'null over a default of a non-null type': () => ({
    query: 'query($id:ID=5){wallet(id:$id){id} merchant{name}}',
    variables: { id: null },
  }),
  'null over a default in a list of non-null items': () => ({
    query: 'query($id:ID=5){nodes(ids:[$id]){id}}',
    variables: { id: null },
  }),
  'null over a default of a non-null input field': () => ({
    query:
      'query($c:RecipientCurrency!,$a:Amount){payoutQuote(input:{assetCode:USDC amount:$a recipient:{currency:$c}}){__typename}}',
    variables: { c: 'NGN', a: null },
  }),
  'null in a list of non-null items': () => ({
    query: 'query($ids:[ID!]!){nodes(ids:$ids){id}}',
    variables: { ids: [null] },
  }),
  'an unknown enum value': () => ({
    query: 'query($t:AssetType){assetCodes(assetType:$t){totalCount}}',
    variables: { t: 'STABLE' },
  }),
  'a number for a string': () => ({ query: 'query($s:String){customers(after:$s){totalCount}}', variables: { s: 1 } }),
  'an unknown input field': () => ({
    query: 'query($f:WalletFilter){wallets(filter:$f){totalCount}}',
    variables: { f: { x: 1 } },
  }),
  'a string for an input object': () => ({
    query: 'query($f:WalletFilter){wallets(filter:$f){totalCount}}',
    variables: { f: 'x' },
  }),
  'no field of a one-of literal': () => ({ query: '{wallets(filter:{owner:{}}){totalCount}}' }),
  'two fields of a one-of literal': () => ({
    query: '{wallets(filter:{owner:{merchant:true customerId:1}}){totalCount}}',
  }),
  'a null field of a one-of literal': () => ({ query: '{wallets(filter:{owner:{merchant:null}}){totalCount}}' }),
  'a nullable variable in a one-of literal': () => ({
    query: 'query($c:ID){wallets(filter:{owner:{customerId:$c}}){totalCount}}',
  }),
  'no field of a one-of variable': () => ({
    query: 'query($o:OwnerFilter){wallets(filter:{owner:$o}){totalCount}}',
    variables: { o: {} },
  }),
  'two fields of a one-of variable': () => ({
    query: 'query($o:OwnerFilter){wallets(filter:{owner:$o}){totalCount}}',
    variables: { o: { merchant: true, customerId: '1' } },
  }),
  'a null field of a one-of variable': () => ({
    query: 'query($o:OwnerFilter){wallets(filter:{owner:$o}){totalCount}}',
    variables: { o: { customerId: null } },
  }),
  'an error at the root': () => ({
    query: 'query($c:String!){customers(after:$c){totalCount}}',
    variables: { c: 'junk' },
  }),
  'errors that make a parent null': ({ personId }) => ({
    query: 'query($c:String!,$id:ID!){merchant{name} customer(id:$id){email wallets(after:$c){totalCount}}}',
    variables: { c: 'junk', id: personId },
  }),
  'two errors that make one parent null': ({ personId }) => ({
    query: 'query($c:String!,$id:ID!){customer(id:$id){wallets(after:$c){totalCount} payouts(before:$c){totalCount}}}',
    variables: { c: 'junk', id: personId },
  }),
  'two errors that make two parents null': ({ personId }) => ({
    query: `query($c:String!,$id:ID!){b:customer(id:$id){wallets(after:$c){totalCount}} a:customer(id:$id){
      wallets(after:$c){totalCount}} merchant{name}}`,
    variables: { c: 'junk', id: personId },
  }),
  'an error in each item of a list': () => ({
    query: 'query($c:String!){customers{nodes{email wallets(after:$c){totalCount}}}}',
    variables: { c: 'junk' },
  }),
  'an error in each item of a list of nullable items': ({ personId, companyId, walletId }) => ({
    query: 'query($c:String!,$ids:[ID!]!){nodes(ids:$ids){id ... on Customer{wallets(after:$c){totalCount}}}}',
    variables: { c: 'junk', ids: [personId, walletId, companyId] },
  }),
  'an error in a merged field': ({ personId }) => ({
    query:
      'query($c:String!,$id:ID!){customer(id:$id){wallets(after:$c){totalCount}} customer(id:$id){wallets(after:$c){nodes{id}}}}',
    variables: { c: 'junk', id: personId },
  }),
  'an error of an alias': ({ personId }) => ({
    query: 'query($c:String!,$id:ID!){x:customer(id:$id){y:wallets(after:$c){totalCount}}}',
    variables: { c: 'junk', id: personId },
  }),
  '@include with null': () => ({
    query: 'query($a:Boolean=true){merchant{uuid name @include(if:$a)}}',
    variables: { a: null },
  }),
  'too many nodes': () => ({
    query: 'query($ids:[ID!]!){nodes(ids:$ids){id}}',
    variables: { ids: Array(101).fill('x') },
  }),
}

/** Mutations whose payload a plan produces; nothing in it differs between runs. */
const plannedMutations: Record<string, (ids: Ids) => RequestDocument> = {
  'a mutation': () => ({
    query: `mutation($i:CreateWalletInput!){made:createWallet(input:$i){__typename ...W ... on UserError{code field}}}
      fragment W on CreateWalletPayload{wallet{description currency balance customer{email}}}`,
    variables: { i: { currency: 'NGN', description: 'One' } },
  }),
  'a mutation with a domain error': () => ({
    query: `mutation($i:CreateWalletInput!){createWallet(input:$i){__typename ... on InvalidInputError{fields{field code message}}}}`,
    variables: { i: { currency: 'XXX', description: '', network: 'ERC20' } },
  }),
  'a mutation with variables in its input': ({ bankId }) => ({
    query: `mutation($id:ID!,$s:String,$n:String){updateBankPayoutMethod(input:{payoutMethodId:$id sortCode:$s bankName:$n}){
      ... on UpdateBankPayoutMethodPayload{payoutMethod{sortCode bankName accountNumber}}}}`,
    variables: { id: bankId, s: '20-20-15', n: 'Other' },
  }),
  '@skip on a mutation': () => ({
    query: `mutation($s:Boolean!){a:createWallet(input:{currency:"NGN" description:"A"}) @skip(if:$s){__typename}
      b:createWallet(input:{currency:"NGN" description:"B"}){__typename}}`,
    variables: { s: true },
  }),
}

/** Several mutations run serially, which graphql-js does. */
const keptMutations: Record<string, (ids: Ids) => RequestDocument> = {
  'several fields': () => ({
    query: `mutation{z:createWallet(input:{currency:"NGN" description:"Z"}){...W} a:createWallet(input:{currency:"ZAR" description:"A"}){...W}
      bad:createWallet(input:{currency:"XXX" description:""}){...W ... on InvalidInputError{fields{field code}}}}
      fragment W on CreateWalletResult{__typename ... on CreateWalletPayload{wallet{description currency}} ... on UserError{code}}`,
  }),
}

const faultyMutations: Record<string, (ids: Ids) => RequestDocument> = {
  'a mutation whose payload partly fails': () => ({
    query: `mutation($i:CreateWalletInput!,$c:String){createWallet(input:$i){
      ... on CreateWalletPayload{wallet{description currency payouts(after:$c){totalCount}}}}}`,
    variables: { i: { currency: 'NGN', description: 'Part' }, c: 'junk' },
  }),
  'a mutation without its optional fields': () => ({
    query: 'mutation($i:CreateWalletInput!){createWallet(input:$i){__typename}}',
    variables: { i: { currency: 'NGN' } },
  }),
  'an invalid default': () => ({
    query: `mutation($i:CreateWalletInput={currency:NGN description:A}){a:createWallet(input:$i){__typename}}`,
    variables: { i: null },
  }),
  'null over a default between others': () => ({
    query: `mutation($i:CreateWalletInput={currency:"NGN" description:"A"}){a:createWallet(input:{currency:"NGN" description:"A"}){__typename}
      b:createWallet(input:$i){__typename} c:createWallet(input:{currency:"NGN" description:"C"}){__typename}}`,
    variables: { i: null },
  }),
}

describe.each(everyEngine)('planned and interpreted documents on %s', (engine) => {
  test('each listed document runs by a plan or by graphql-js as expected, and both produce the same bytes', async () => {
    const { sameAnswer, ids } = await startBothWays(engine)
    const seen = async (documents: Record<string, (ids: Ids) => RequestDocument>) => {
      const outcomesByName: Record<string, string> = {}
      for (const [name, documentFor] of Object.entries(documents)) {
        const { hasErrors, isPlanned } = await sameAnswer(documentFor(ids))
        outcomesByName[name] = hasErrors ? 'errors' : isPlanned ? 'planned' : 'kept'
      }
      return outcomesByName
    }
    const each = (documents: object, what: string) =>
      Object.fromEntries(Object.keys(documents).map((name) => [name, what]))
    expect(await seen(plannedDocuments)).toEqual(each(plannedDocuments, 'planned'))
    expect(await seen(keptDocuments)).toEqual(each(keptDocuments, 'kept'))
    expect(await seen(faultyDocuments)).toEqual(each(faultyDocuments, 'errors'))
    expect(await seen(plannedMutations)).toEqual(each(plannedMutations, 'planned'))
    expect(await seen(keptMutations)).toEqual(each(keptMutations, 'kept'))
    expect(await seen(faultyMutations)).toEqual(each(faultyMutations, 'errors'))
    expect(Object.keys({ ...plannedDocuments, ...faultyDocuments }).length).toBeGreaterThan(110)
  })

  test('a plan and graphql-js both leave a field unchanged if an update omits it', async () => {
    for (const executor of everyExecutor) {
      const app = await startApp(engine, { executor })
      const { body } = await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, iban: 'X1' } })
      const query = `mutation($id:ID!,$i:String,$c:ID){updateBankPayoutMethod(input:{payoutMethodId:$id iban:$i customerId:$c}){
        ... on UpdateBankPayoutMethodPayload{payoutMethod{iban}}}}`
      for (let i = 0; i < 2; i++) {
        const { data } = await app.graphql(query, { id: body.data.id })
        expect(data).toEqual({ updateBankPayoutMethod: { payoutMethod: { iban: 'X1' } } })
      }
      const { data } = await app.graphql(query, { id: body.data.id, i: null })
      expect(data).toEqual({ updateBankPayoutMethod: { payoutMethod: { iban: null } } })
    }
  })

  test('a plan and graphql-js both change nothing for a mutation with an invalid selection', async () => {
    const query = `mutation($input:CreateWalletInput!,$cursor:String){createWallet(input:$input){
      ... on CreateWalletPayload{wallet{description payouts(after:$cursor){totalCount}}}}}`
    for (const executor of everyExecutor) {
      const app = await startApp(engine, { executor })
      for (const cursor of ['junk', 'too']) {
        const input = { currency: 'NGN', description: 'Wallet' }
        const { errors } = await app.graphql(query, { input, cursor })
        expect(errors).toMatchObject([{ path: ['createWallet', 'wallet', 'payouts'] }])
        const { data } = await app.graphql('{wallets{totalCount}}')
        expect(data).toEqual({ wallets: { totalCount: 0 } })
      }
    }
  })

  test("a plan compiles no caller's text as code", async () => {
    const { sameAnswer } = await startBothWays(engine)
    // Literals that graphql-jit 0.8.9 treats as a date, a number or its own code.
    const texts = [
      '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d(globalThis.ran=true)',
      '__MAGIC_NAN__57f286b9_4c20_487f_b409_79804ddcb4f8',
      '__MAGIC_PLUS_INFINITY__bb201c39_3333_4695_b4ad_7f1722e7aa7a',
      `\${globalThis.ran=true}`,
      '\\";globalThis.ran=true;//',
      '\\u2028globalThis.ran=true',
    ]
    for (const text of texts) {
      for (const query of [
        `{wallet(id:"${text}"){id}}`,
        `{nodes(ids:["${text}"]){id}}`,
        `{wallets(filter:{currency:"${text}"}){totalCount}}`,
        `query($t:String="${text}"){wallets(filter:{currency:$t}){totalCount}}`,
        `query($f:WalletFilter={currency:"${text}"}){wallets(filter:$f){totalCount}}`,
      ]) {
        expect(await sameAnswer({ query })).toMatchObject({ isPlanned: true })
      }
      await sameAnswer({ query: 'query($t:String){wallets(filter:{currency:$t}){totalCount}}', variables: { t: text } })
    }
    expect(globalThis).not.toHaveProperty('ran')
  })

  test('every valid random document has a plan, which produces the same bytes as graphql-js', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    const { merchantId, idempotencyKeys } = await seedRichData(app.service, app.url, () => {
      nowMs += 1_003
    })
    const ways = bothWays(app.service, merchantId)
    const known = await collectKnownValues(ways.reference, idempotencyKeys)
    const seed = randomInt(2 ** 32)
    const seen = await compareWays(ways, randomDocuments(randomFrom(seed), known), 300)
    expect(seen.different, `seed ${seed}`).toEqual([])
    expect(seen.unplanned, `seed ${seed}`).toEqual([])
    expect(seen.planned, `seed ${seed}`).toBeGreaterThan(200)
  })
})
