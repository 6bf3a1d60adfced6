import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import type { Thing } from './world.ts'

/** Texts that are no valid id, some of them similar to the id of `thing`. */
export function junkIds({ type, id }: Thing): string[] {
  const bare = id.slice(0, 36)
  return [
    'x'.repeat(100_000),
    '='.repeat(1_000),
    '\0',
    `${bare}\0`,
    `\0${bare}`,
    ` ${bare}`,
    `${bare} `,
    '🦜',
    '\ud800',
    "' or 1=1 --",
    `${bare}' or '1'='1`,
    '"; drop table payouts; --',
    'null',
    'undefined',
    '0',
    '-1',
    '1e309',
    '__proto__',
    'constructor',
    '../../etc/passwd',
    '%00',
    '%',
    '_'.repeat(36),
    '{"$ne":null}',
    bare.replaceAll('-', ''),
    bare.slice(0, -1),
    `${bare}0`,
    `{${bare}}`,
    `urn:uuid:${bare}`,
    bare.replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
    btoa('junk'),
    btoa('\x00\xff\x80\x01'),
    btoa(type),
    btoa(`${type}:`),
    btoa(`:${id}`),
    btoa(`${type}:${id} `),
    btoa(`${type}:${id}\n`),
    btoa(`${type}: ${id}`),
    btoa(` ${type}:${id}`),
    btoa(`${type}::${id}`),
    btoa(`${type}:${id}:9`),
    btoa(`${type.toLowerCase()}:${id}`),
    btoa(`Other${type}:${id}`),
    btoa(`__proto__:${id}`),
    btoa(`Node:${id}`),
    btoa(`${type}:junk`),
    btoa(`${type}:' or 1=1 --`),
    toGlobalId(type, toGlobalId(type, id)),
    toGlobalId('BankPayoutMethod', toGlobalId('WalletPayoutMethod', id)),
    toGlobalId('WalletPayoutMethod', toGlobalId('BankPayoutMethod', id)),
    encodeURIComponent(`${toGlobalId(type, id)}=`),
  ]
}

/** JSON values that are no id. */
export const wrongJson: readonly unknown[] = [true, {}, { id: '1' }, [], ['a', 'b'], 1.5]
