import { enumDescription } from '../core/api/enum-descriptions.ts'
import { createKey, revokeKey, rotateKey } from '../modules/merchants/manage-keys.ts'
import { scopes } from '../operations/access/scopes.ts'
import type { ActionInput, ConsoleAction, RevealedSecret } from './console-page.ts'

const merchantIdOf = ({ params }: ActionInput) => params.merchantId ?? ''

export const createKeyAction: ConsoleAction = {
  name: 'key create',
  title: 'Create a key',
  text: 'Gives the merchant another API key, which is shown once. Without scopes it may do everything.',
  fields: [
    {
      name: 'scopes',
      label: 'Scopes',
      kind: 'many',
      isOptional: true,
      options: scopes.map((scope) => [scope, `${scope}: ${enumDescription(scopes, scope)}`]),
    },
    { name: 'expiresAt', label: 'Ends at', hint: 'Such as 2027-01-31T00:00:00Z.', isOptional: true },
    {
      name: 'networks',
      label: 'Only from',
      hint: 'Networks separated by commas, such as 203.0.113.0/24.',
      isOptional: true,
    },
  ],
  subject: merchantIdOf,
  run: async (service, on) => {
    const { scopes, expiresAt, networks } = on.values
    const terms = { scopes: splitList(scopes), expiresAt: expiresAt || undefined, networks: splitList(networks) }
    return revealApiKey(await createKey(service, merchantIdOf(on), terms))
  },
}

export const rotateKeyAction: ConsoleAction = {
  name: 'key rotate',
  title: 'Rotate the key',
  text: 'Gives the merchant a new key that may do everything, beside its latest such one, and revokes any older. Keys with scopes stay.',
  subject: merchantIdOf,
  run: async (service, on) => revealApiKey(await rotateKey(service, merchantIdOf(on))),
}

export const revokeKeyAction: ConsoleAction = {
  name: 'key revoke',
  title: 'Revoke',
  text: 'Ends the key at once, and the tokens that were made with it. It can’t be taken back.',
  subject: ({ target }) => target,
  run: async (service, { target }) => {
    await revokeKey(service, target)
    return undefined
  },
}

function revealApiKey({ apiKey }: { apiKey: string }): RevealedSecret {
  return {
    name: 'API key',
    secret: apiKey,
    advice: 'Only its hash is kept: copy it now, and give it to the merchant by a safe way.',
  }
}

function splitList(text: string | undefined): string[] | undefined {
  return text ? text.split(',').map((each) => each.trim()) : undefined
}
