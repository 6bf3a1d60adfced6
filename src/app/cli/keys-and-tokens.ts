import { noCaller } from '../../callers/api-caller.ts'
import { scopes } from '../../callers/scopes.ts'
import { createClientToken } from '../../client-tokens/create-client-token.ts'
import type { Service } from '../../context.ts'
import { createContext } from '../../context.ts'
import { notFound } from '../../errors.ts'
import { createKey, listKeys, revokeKey, rotateKey } from '../../merchants/keys.ts'
import type { Command, Options } from './command.ts'
import { listed, toFirstWord, wholeNumber, word } from './command.ts'

const someScopes = `some of ${scopes.join(', ')}`

/** What operators do with API keys, and with the tokens that are made with them. */
export const keyCommands: Readonly<Record<string, Command>> = {
  'key create': {
    changes: toFirstWord,
    summary: `Gives a merchant another API key and shows it, once; with --scopes (${someScopes}) one that may do no more, with --networks one that may be used from there only.`,
    words: ['merchant id'],
    options: { scopes: 'list', 'expires-at': 'date and time', networks: 'list' },
    run: (service, words, { scopes, networks, 'expires-at': expiresAt }) =>
      createKey(service, word(words, 0), { scopes: listed(scopes), expiresAt, networks: listed(networks) }),
  },
  'key list': {
    changes: 'nothing',
    summary: "Lists a merchant's API keys with their last use.",
    words: ['merchant id'],
    run: (service, words) => listKeys(service, word(words, 0)),
  },
  'key revoke': {
    changes: toFirstWord,
    summary: 'Ends an API key at once, and the tokens that were made with it.',
    words: ['key id'],
    run: (service, words) => revokeKey(service, word(words, 0)),
  },
  'key rotate': {
    changes: toFirstWord,
    summary: 'Gives a merchant a new API key beside its latest one and revokes any older; keys with scopes stay.',
    words: ['merchant id'],
    run: (service, words) => rotateKey(service, word(words, 0)),
  },
  'token create': {
    changes: toFirstWord,
    summary: `Makes a client token, with which a page acts as the merchant or as one of its customers; with the merchant's latest key unless --key names another. Scopes are ${someScopes}.`,
    words: ['merchant id'],
    required: { scopes: 'list' },
    options: { customer: 'customer id', 'expires-in': 'seconds', key: 'key id' },
    names: { customerId: '--customer' },
    run: newToken,
  },
}

async function newToken(service: Service, words: readonly string[], options: Options) {
  const merchantId = word(words, 0)
  const live = (await listKeys(service, merchantId)).filter(({ revokedAt }) => revokedAt === null)
  const key = options.key === undefined ? live.at(-1) : live.find(({ id }) => id === options.key)
  if (key === undefined) throw notFound('Live API key')
  const seconds = options['expires-in']
  const context = createContext(service, key.merchantId, null, 0, { ...noCaller, keyId: key.id })
  const { result } = await createClientToken(context, {
    customerId: options.customer,
    scopes: listed(options.scopes) ?? [],
    expiresIn: seconds === undefined ? undefined : wholeNumber('expires-in', seconds),
  })
  // A token is stored nowhere. That somebody made one is, before it is shown.
  return service.db.write(() => result)
}
