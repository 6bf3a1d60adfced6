import { randomBytes } from 'node:crypto'
import type { Config } from '../app/config.ts'
import { DomainError } from '../core/errors.ts'
import { hashPassword } from '../core/secrets/password-hash.ts'
import type { OperatorLink } from '../modules/operators/manage-operators.ts'
import {
  createOperator,
  createOperatorLink,
  listOperators,
  removeOperator,
  setOperatorRole,
} from '../modules/operators/manage-operators.ts'
import type { CommandTable } from './command.ts'
import { subjectFromFirstWord, wordAt } from './command.ts'

export const operatorCommands: CommandTable = {
  'operator create': {
    changes: subjectFromFirstWord,
    databaseCreation: 'inSandbox',
    summary: 'Create an operator of the console that CONSOLE_PORT serves. Shows a sign-in link once.',
    words: ['name'],
    required: { role: ['look or act', 'open every page, or also perform actions'] },
    run: async (service, words, { role = '' }, { console }) => {
      const addressOf = requireConsole(console)
      const input = { name: wordAt(words, 0), role }
      return showLink(await createOperator(service, input, console?.operators), addressOf)
    },
  },
  'operator list': {
    changes: 'nothing',
    summary: 'List the operators of the console. Includes those of CONSOLE_USERS.',
    columns: {
      name: { priority: 1 },
      role: { priority: 2 },
      lastSignInAt: { header: 'last sign-in', priority: 3 },
      hasPassword: { header: 'password', priority: 4 },
      linkExpiresAt: { header: 'link until', priority: 5 },
      source: { priority: 6 },
    },
    run: (service, _, __, { console }) => listOperators(service, console?.operators ?? []),
  },
  'operator link': {
    changes: subjectFromFirstWord,
    summary:
      'Create a link that signs an operator in once, within an hour. On its page the operator may set a password. An earlier link stops working.',
    words: ['name'],
    run: async (service, words, _, { console }) => {
      const addressOf = requireConsole(console)
      return showLink(await createOperatorLink(service, { name: wordAt(words, 0) }), addressOf)
    },
  },
  'operator role': {
    changes: subjectFromFirstWord,
    summary: 'Change the role of an operator. Ends the sessions of the operator.',
    words: ['name', 'look or act'],
    names: { role: '<look or act>' },
    run: (service, words) => setOperatorRole(service, { name: wordAt(words, 0), role: wordAt(words, 1) }),
  },
  'operator remove': {
    changes: subjectFromFirstWord,
    summary: 'Remove an operator. Ends the sessions of the operator.',
    words: ['name'],
    run: (service, words) => removeOperator(service, { name: wordAt(words, 0) }),
  },
  'operator password': {
    changes: 'nothing',
    summary: 'Generate a password and its hash for CONSOLE_USERS. Stores nothing.',
    runStandalone: async () => {
      const password = randomBytes(18).toString('base64url')
      return { password, hash: await hashPassword(password) }
    },
  },
}

/**
 * Returns a function that maps the token of a one-time link to its URL.
 *
 * @throws DomainError NOT_CONFIGURED
 */
function requireConsole(console: Config['console']): (token: string) => string {
  if (console === null) {
    throw new DomainError(
      'NOT_CONFIGURED',
      'CONSOLE_PORT must be set, and CONSOLE_URL as for the service: the link begins with it.',
    )
  }
  return (token) => `${console.url}/link?token=${token}`
}

function showLink<Link extends OperatorLink>({ token, ...link }: Link, addressOf: (token: string) => string) {
  return { ...link, link: addressOf(token) }
}
