import type { RequestDocument } from './execution-comparison.ts'

/** A word that occurs in no source. */
export const marker = 'Kuckucksei'

/** Documents with a caller's word in every place of a document, of its variables and of stored texts. */
export function attacksWith(word: string): RequestDocument[] {
  const texts = [
    word,
    `");globalThis.${word}=1;("`,
    `'+globalThis.${word}+'`,
    `\${globalThis.${word}=1}`,
    `\`;globalThis.${word}=1;\``,
    `*/globalThis.${word}=1/*`,
    `\u2028globalThis.${word}=1`,
    `__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d(${word})`,
    `__proto__.${word}`,
  ]
  const customer = { customerType: 'INDIVIDUAL', email: 'a@example.com', phone: '+2348012345678', country: 'Nigeria' }
  const stored = { addressLine1: texts[1], city: texts[2], state: texts[3], firstName: texts[4], lastName: texts[5] }
  return [
    {
      query: `mutation ${word}($i:CreateCustomerInput!){${word}:createCustomer(input:$i){__typename ... on CreateCustomerPayload{
        ${word}:customer{id address{${word}:city line1 state} personalInfo{firstName lastName}}}}}`,
      variables: { i: { ...customer, ...stored } },
    },
    { query: '{customers{nodes{address{city line1 state} personalInfo{firstName lastName}}}}' },
    { query: `{${word}:merchant{${word}_name:name _${word}:uuid} constructor:wallets{${word}:totalCount}}` },
    {
      query: `query ${word}{...${word}} fragment ${word} on Query{merchant{name}} query B{__typename}`,
      operationName: word,
    },
    { query: `query($${word}:ID!){wallet(id:$${word}){id}}`, variables: { [word]: word } },
    { query: `query($${word}:Boolean!){merchant{name @include(if:$${word})}}`, variables: { [word]: true } },
    { query: `query($a:Int=${word}){wallets(first:$a){totalCount}}` },
    { query: `{assetCodes(assetType:${word}){totalCount}}` },
    { query: `{wallets(filter:{status:${word}}){totalCount}}` },
    { query: `{wallets(filter:{${word}:1}){totalCount}}` },
    { query: `{wallets(${word}:1){totalCount}}` },
    { query: `{${word}}` },
    { query: `{merchant @${word}{name}}` },
    { query: `{merchant{... on ${word}{name}}}` },
    { query: '{merchant{name}}', variables: { [word]: word } },
    { query: 'query($f:WalletFilter){wallets(filter:$f){totalCount}}', variables: { f: { [word]: word } } },
    ...texts.flatMap((text) => [
      { query: `{wallet(id:${JSON.stringify(text)}){id}}` },
      { query: `{wallet(id:"""${text}"""){id}}` },
      { query: `{nodes(ids:[${JSON.stringify(text)}]){id}}` },
      { query: `{payout(idempotencyKey:${JSON.stringify(text)}){id}}` },
      { query: `{wallets(after:${JSON.stringify(text)}){totalCount}}` },
      { query: `{wallets(first:1 filter:{currency:${JSON.stringify(text)}}){totalCount nodes{id}}}` },
      { query: `query($t:String=${JSON.stringify(text)}){wallets(filter:{currency:$t}){totalCount nodes{id}}}` },
      { query: `query($f:WalletFilter={currency:${JSON.stringify(text)}}){wallets(filter:$f){totalCount}}` },
      { query: 'query($t:String){wallets(filter:{currency:$t}){totalCount}}', variables: { t: text } },
      { query: 'query($t:AssetType){assetCodes(assetType:$t){totalCount}}', variables: { t: text } },
      { query: 'query($t:ID!){node(id:$t){id}}', variables: { t: btoa(`Wallet:${word}`) } },
    ]),
  ]
}
