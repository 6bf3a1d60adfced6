import { notFound } from '../core/errors.ts'
import { createClientToken } from '../modules/client-tokens/create-client-token.ts'
import { listKeys } from '../modules/merchants/manage-keys.ts'
import { parseWholeNumber, splitList } from '../modules/operators/actions/action-declaration.ts'
import {
  createKeyAction,
  revokeKeyAction,
  rotateKeyAction,
  scopesHelp,
} from '../modules/operators/actions/key-actions.ts'
import { systemCaller } from '../operations/access/api-caller.ts'
import type { Service } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { CommandTable, OptionValues } from './command.ts'
import { actionCommands, subjectFromFirstWord, wordAt } from './command.ts'

export const keyCommands: CommandTable = {
  ...actionCommands(createKeyAction),
  'key list': {
    changes: 'nothing',
    summary: 'List the API keys of a merchant. Includes the time at which each key was last used.',
    words: ['merchant id'],
    columns: {
      id: { priority: 1 },
      createdAt: { header: 'created', priority: 2 },
      lastUsedAt: { header: 'last used', priority: 3 },
      revokedAt: { header: 'revoked', priority: 4 },
    },
    run: (service, words) => listKeys(service, wordAt(words, 0)),
  },
  ...actionCommands(revokeKeyAction, rotateKeyAction),
  'token create': {
    changes: subjectFromFirstWord,
    summary: 'Create a client token for a page. The page acts as the merchant, or as one of its customers.',
    words: ['merchant id'],
    required: { scopes: ['list', scopesHelp] },
    options: {
      customer: ['customer id', 'act as this customer only'],
      'expires-in': ['seconds', 'how long it is valid'],
      key: ['key id', 'default: the latest key of the merchant'],
    },
    names: { customerId: '--customer' },
    run: createToken,
  },
}

async function createToken(service: Service, words: readonly string[], options: OptionValues) {
  const merchantId = wordAt(words, 0)
  const liveKeys = (await listKeys(service, merchantId)).filter(({ revokedAt }) => revokedAt === null)
  const key = options.key === undefined ? liveKeys.at(-1) : liveKeys.find(({ id }) => id === options.key)
  if (key === undefined) throw notFound('Live API key')
  const seconds = options['expires-in']
  const context = createContext(service, key.merchantId, null, 0, { ...systemCaller, keyId: key.id })
  const { result } = await createClientToken(context, {
    customerId: options.customer,
    scopes: splitList(options.scopes) ?? [],
    expiresIn: seconds === undefined ? undefined : parseWholeNumber('expiresIn', seconds),
  })
  // The transaction stores no token, but only the row of the operator log.
  return service.db.write(() => result)
}
