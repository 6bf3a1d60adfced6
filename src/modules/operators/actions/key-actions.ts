import { enumDescription } from '../../../core/api/enum-descriptions.ts'
import { scopes } from '../../../operations/access/scopes.ts'
import { createKey, revokeKey, rotateKey } from '../../merchants/manage-keys.ts'
import type { ActionDeclaration, ActionField } from './action-declaration.ts'
import { splitList } from './action-declaration.ts'

const merchantIdField: ActionField = { name: 'merchantId', typed: '<merchant id>' }
const apiKeySecret = {
  name: 'API key',
  field: 'apiKey',
  advice: 'Only its hash is kept: copy it now, and send it to the merchant by a secure channel.',
}
export const scopesHelp = `some of ${scopes.join(', ')}, separated by commas`

export const createKeyAction: ActionDeclaration = {
  name: 'key create',
  title: 'Create a key',
  summary: 'Create another API key for a merchant. Shows the key once. A key without scopes has full access.',
  fields: [
    merchantIdField,
    {
      name: 'scopes',
      typed: '--scopes <list>',
      help: `restrict it to ${scopesHelp}`,
      label: 'Scopes',
      isMultiple: true,
      options: scopes.map((scope) => [scope, `${scope}: ${enumDescription(scopes, scope)}`]),
    },
    {
      name: 'expiresAt',
      typed: '--expires-at <date and time>',
      help: 'when it expires; default: never',
      label: 'Expires at',
      hint: 'In UTC; default: never.',
      isTime: true,
    },
    {
      name: 'networks',
      typed: '--networks <list>',
      help: 'restrict it to these networks, separated by commas',
      label: 'Only from',
      hint: 'Networks separated by commas, such as 203.0.113.0/24.',
    },
  ],
  subject: ['merchantId'],
  secret: apiKeySecret,
  run: (service, { merchantId = '', scopes, expiresAt, networks }) =>
    createKey(service, merchantId, { scopes: splitList(scopes), expiresAt, networks: splitList(networks) }),
}

export const rotateKeyAction: ActionDeclaration = {
  name: 'key rotate',
  title: 'Rotate the key',
  summary:
    'Replace the API keys of a merchant. Creates a key, keeps the previous key, and revokes older keys. Keys with scopes are not revoked.',
  fields: [merchantIdField],
  subject: ['merchantId'],
  isIrreversible: true,
  secret: apiKeySecret,
  run: (service, { merchantId = '' }) => rotateKey(service, merchantId),
}

export const revokeKeyAction: ActionDeclaration = {
  name: 'key revoke',
  title: 'Revoke',
  summary: 'Revoke an API key. Client tokens of the key stop working immediately. A revocation cannot be undone.',
  fields: [{ name: 'keyId', typed: '<key id>' }],
  rowFields: ['keyId'],
  subject: ['keyId'],
  isIrreversible: true,
  run: (service, { keyId = '' }) => revokeKey(service, keyId),
}
