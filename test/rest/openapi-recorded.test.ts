import { expect, test } from 'vitest'
import { openapiDocument } from '../../src/server/pages/openapi.ts'
import { groups } from '../../src/server/rest-routes.ts'

/** Texts for people, which may change; a property of that name is an object, and stays. */
const prose = new Set(['description', 'summary', 'title'])

const withoutProse = (name: string, value: unknown) =>
  prose.has(name) && typeof value === 'string' ? undefined : value

// Whoever changes what clients see changes the recorded file: vitest run -u test/rest/openapi-recorded.test.ts
test('the OpenAPI document of the sandbox is as it was recorded, but for its prose', async () => {
  const { paths, webhooks, components } = openapiDocument(groups, 'sandbox') as unknown as Record<string, object>

  const recorded = JSON.stringify({ paths, webhooks, components }, withoutProse, 1)

  await expect(`${recorded}\n`).toMatchFileSnapshot('../contract/openapi.json')
})
