import { expect, test } from 'vitest'
import { openapiDocument } from '../../src/server/pages/openapi.ts'
import { endpointGroups } from '../../src/server/rest/routes.ts'

/** Keywords whose texts may change; a property of that name has an object as its value, and is compared. */
const prose = new Set(['description', 'summary', 'title'])

const withoutProse = (name: string, value: unknown) =>
  prose.has(name) && typeof value === 'string' ? undefined : value

// To record an intended change: npx vitest run test/rest/openapi-recorded.test.ts --update
test('the OpenAPI document of the sandbox equals the recorded one, apart from descriptions, summaries and titles', async () => {
  const { paths, webhooks, components } = openapiDocument(endpointGroups, 'sandbox') as unknown as Record<
    string,
    object
  >

  const recorded = JSON.stringify({ paths, webhooks, components }, withoutProse, 1)

  await expect(`${recorded}\n`).toMatchFileSnapshot('../contract/openapi.json')
})
