import { notFound } from '../core/errors.ts'
import { createClientToken } from '../modules/client-tokens/create-client-token.ts'
import { createKey, listKeys, revokeKey, rotateKey } from '../modules/merchants/manage-keys.ts'
import { systemCaller } from '../operations/access/api-caller.ts'
import { scopes } from '../operations/access/scopes.ts'
import type { Service } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { Command, OptionValues } from './command.ts'
import { parseWholeNumber, splitList, subjectFromFirstWord, wordAt } from './command.ts'

const scopesHelp = `some of ${scopes.join(', ')}, separated by commas`

/** What operators do with API keys, and with the tokens that are made with them. */
export const keyCommands: Readonly<Record<string, Command>> = {
  'key create': {
    changes: subjectFromFirstWord,
    summary: 'Create another API key for a merchant. Shows it, once.',
    words: ['merchant id'],
    options: {
      scopes: ['list', `restrict it to ${scopesHelp}`],
      'expires-at': ['date and time', 'when it expires; never unless given'],
      networks: ['list', 'restrict it to these networks, separated by commas'],
    },
    run: (service, words, { scopes, networks, 'expires-at': expiresAt }) =>
      createKey(service, wordAt(words, 0), { scopes: splitList(scopes), expiresAt, networks: splitList(networks) }),
  },
  'key list': {
    changes: 'nothing',
    summary: 'List the API keys of a merchant. Includes when each was last used.',
    words: ['merchant id'],
    columns: {
      id: { priority: 1 },
      createdAt: { header: 'created', priority: 2 },
      lastUsedAt: { header: 'last used', priority: 3 },
      revokedAt: { header: 'revoked', priority: 4 },
    },
    run: (service, words) => listKeys(service, wordAt(words, 0)),
  },
  'key revoke': {
    changes: subjectFromFirstWord,
    summary: 'Revoke an API key. Client tokens made with it stop working immediately.',
    words: ['key id'],
    run: (service, words) => revokeKey(service, wordAt(words, 0)),
  },
  'key rotate': {
    changes: subjectFromFirstWord,
    summary:
      'Replace the API keys of a merchant. Creates a key, keeps the latest, and revokes older ones. Keys with scopes stay.',
    words: ['merchant id'],
    run: (service, words) => rotateKey(service, wordAt(words, 0)),
  },
  'token create': {
    changes: subjectFromFirstWord,
    summary: 'Create a client token for a page. The page acts as the merchant, or as one of its customers.',
    words: ['merchant id'],
    required: { scopes: ['list', scopesHelp] },
    options: {
      customer: ['customer id', 'act as this customer only'],
      'expires-in': ['seconds', 'how long it is valid'],
      key: ['key id', 'the latest key of the merchant unless given'],
    },
    names: { customerId: '--customer' },
    run: newToken,
  },
}

async function newToken(service: Service, words: readonly string[], options: OptionValues) {
  const merchantId = wordAt(words, 0)
  const live = (await listKeys(service, merchantId)).filter(({ revokedAt }) => revokedAt === null)
  const key = options.key === undefined ? live.at(-1) : live.find(({ id }) => id === options.key)
  if (key === undefined) throw notFound('Live API key')
  const seconds = options['expires-in']
  const context = createContext(service, key.merchantId, null, 0, { ...systemCaller, keyId: key.id })
  const { result } = await createClientToken(context, {
    customerId: options.customer,
    scopes: splitList(options.scopes) ?? [],
    expiresIn: seconds === undefined ? undefined : parseWholeNumber('expires-in', seconds),
  })
  // A token is stored nowhere. That somebody made one is, before it is shown.
  return service.db.write(() => result)
}
