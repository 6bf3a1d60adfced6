import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import plugin from '@graphql-eslint/eslint-plugin'
import { ESLint } from 'eslint'
import { describe, expect, test } from 'vitest'
import { schemaPath } from '../../api-changes.ts'

const schema = readFileSync(resolve(import.meta.dirname, '../..', schemaPath), 'utf8')
const ruleSets = ['flat/schema-recommended', 'flat/schema-relay'] as const

/** Options that the rules require for this schema. */
const options = {
  // A type that is part of another, or the result of one query, has no id.
  'strict-id-in-types': {
    exceptions: {
      suffixes: ['Connection', 'Edge', 'Payload', 'Error'],
      types: [
        'Address',
        'ApiKey',
        'AttentionPage',
        'BusinessInfo',
        'Check',
        'EventPage',
        'FieldFault',
        'FieldRequirement',
        'FinancialInfo',
        'PageInfo',
        'PayoutAttention',
        'PayoutEvent',
        'PayoutMethodRequirements',
        'PayoutQuote',
        'PayoutTimelineStep',
        'PendingDeposit',
        'PersonalInfo',
        'SearchPage',
        'Statement',
        'WebhookAttempt',
        'WebhookDelivery',
      ],
    },
  },
  // Connections have `nodes` alongside `edges`, and bounded lists are plain: `schema.test.ts` names each. A
  // delivery to an endpoint is not a node, and `schema.test.ts` checks the others.
  'relay-edge-types': { listTypeCanWrapOnlyEdgeType: false, shouldImplementNode: false },
}

describe('@graphql-eslint', () => {
  test('schema.graphql passes the recommended rules and the rules for Relay', async () => {
    expect(await findingsIn(schema)).toEqual([])
  })

  test('the configuration applies every rule of both sets as an error', async () => {
    const { rules = {} } = await linter(schema).calculateConfigForFile('schema.graphql')
    const names = ruleSets.flatMap((set) => Object.keys(plugin.configs[set].rules))
    expect(names.length).toBeGreaterThanOrEqual(22)
    expect(names.filter((name) => ![2, 'error'].includes(rules[name]?.[0]))).toEqual([])
  })

  test.each([
    ['naming-convention', '  balance: Amount!', '  Balance: Amount!'],
    ['naming-convention', '  BEP20', '  bep20'],
    [
      'require-description',
      '"""\nThe result of a check of an identifier. A failed check rejects nothing: show it to the person who typed the identifier.\n"""\n',
      '',
    ],
    ['no-typename-prefix', 'label: String', 'walletPayoutMethodLabel: String'],
    ['no-unreachable-types', 'enum CheckOutcome', 'enum Unused { A B }\n\nenum CheckOutcome'],
    [
      'strict-id-in-types',
      'type WalletAddress implements Node',
      'type WalletPlace { place: String }\n\ntype WalletAddress implements Node',
    ],
    ['require-deprecation-reason', '  balance: Amount!', '  balance: Amount! @deprecated'],
    ['relay-arguments', '    after: String\n', '    after: AssetType\n'],
    ['relay-connection-types', 'pageInfo: PageInfo!', 'pageInfo: PageInfo'],
    ['relay-edge-types', '  cursor: String!', '  cursor: PageInfo!'],
    ['relay-page-info', '  hasNextPage: Boolean!', '  hasNextPage: Boolean'],
  ])('the rule %s reports a defect in a changed schema', async (rule, from, to) => {
    const defective = schema.replaceAll(from, to)
    expect(defective).not.toBe(schema)
    const findings = await findingsIn(defective)
    expect(findings.filter((finding) => finding.startsWith(`${rule}: `))).not.toEqual([])
  })
})

async function findingsIn(source: string): Promise<string[]> {
  const [result] = await linter(source).lintText(source, { filePath: 'schema.graphql' })
  const messages = result?.messages ?? []
  return messages.map(({ ruleId, message }) => `${ruleId?.replace('@graphql-eslint/', '')}: ${message}`)
}

function linter(source: string): ESLint {
  const rules = Object.assign({}, ...ruleSets.map((set) => plugin.configs[set].rules))
  for (const [rule, option] of Object.entries(options)) rules[`@graphql-eslint/${rule}`] = ['error', option]
  return new ESLint({
    overrideConfigFile: true,
    overrideConfig: [
      {
        files: ['**/*.graphql'],
        languageOptions: { parser: plugin.parser, parserOptions: { graphQLConfig: { schema: source } } },
        plugins: { '@graphql-eslint': plugin as never },
        rules,
      },
    ],
  })
}
