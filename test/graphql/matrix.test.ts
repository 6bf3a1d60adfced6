import { describe, expect, test } from 'vitest'
import { toGlobalId } from '../../src/graphql/schema/global-ids.ts'
import { sandboxSchema as schema } from '../../src/server/graphql/schema.ts'
import { everyEngine } from '../support/app.ts'
import { someOf } from '../support/some-of.ts'
import { readStoredRows } from '../support/stored.ts'
import { createAsk } from './support/ask.ts'
import type { IdCase } from './support/id-cases.ts'
import { idCases, outcomeOf } from './support/id-cases.ts'
import { junkIds, wrongJson } from './support/junk.ts'
import { idPlacesOf } from './support/walk.ts'
import type { Thing, Worlds } from './support/world.ts'
import {
  deletedThingsOf,
  findSigns,
  foreignWords,
  hasUuid,
  nodeTypes,
  spellingsOf,
  startWorlds,
  thingsOf,
} from './support/world.ts'

test('every argument and input field that accepts an id has a test case', () => {
  expect(Object.keys(idCases).sort()).toEqual(idPlacesOf(schema))
})

test('the tested ids include an id of every node type', () => {
  expect(schema.getPossibleTypes(schema.getType('Node') as never).map(({ name }) => name)).toEqual([...nodeTypes])
})

test('findSigns finds a canary of digits only as a whole number, not within a UUID', () => {
  const signs = ['771928', 'Kanarienvogel']
  for (const text of ['"771928"', '77-19-28 771928.', '+771928', '771928'])
    expect(findSigns(text, signs)).toEqual(['771928'])
  for (const text of ['8d771928-0000', '"e771928a"', '17719280', '771928F']) expect(findSigns(text, signs)).toEqual([])
  expect(findSigns('aKanarienvogels', signs)).toEqual(['Kanarienvogel'])
})

describe.each(everyEngine)('ids on %s', (engine) => {
  test('a canary (a recognizable value) in a response is detected, in plain text and within encoded ids', async () => {
    const { app, other, theirs, canaries } = await startWorlds(engine)
    const some = [other.id, theirs.person, theirs.payouts.failed, '7391.73918264', foreignWords.digits]
    expect(canaries).toEqual(expect.arrayContaining(some))
    expect(canaries.length).toBeGreaterThan(150)

    const ask = createAsk(app, { key: other.apiKey, canaries })
    for (const field of ['id', 'uuid', 'email', 'phone', 'address { city }', 'createdAt']) {
      const response = ask(`query($id: ID!) { customer(id: $id) { ${field} } }`, { id: theirs.person })
      await expect(response, field).rejects.toThrow('to deeply equal []')
    }
  })

  // One pair of merchants per root type: only the last step of each case changes data.
  test.each(['Query', 'Mutation', 'Subscription'])(
    'a %s gives the same response to ids of other merchants, owners or types as to ids that do not exist',
    async (root) => {
      const worlds = await startWorlds(engine)
      const places = Object.entries(idCases).filter(([place]) => place.startsWith(`${root}.`))
      expect(places.length).toBeGreaterThan(0)
      for (const [place, idCase] of places) await expectCaseToHold(worlds, place, idCase)
      await worlds.app.expectBooksToBalance()
    },
  )
})

async function expectCaseToHold({ app, ours, theirs, canaries }: Worlds, place: string, idCase: IdCase) {
  const {
    document,
    takes,
    variables,
    own,
    absent,
    junk,
    empty,
    merchantItself,
    siblings,
    storesNothing = false,
  } = idCase
  const ask = createAsk(app, { canaries })
  const isMutation = place.startsWith('Mutation')
  const send = (id: unknown, idempotencyKey = app.service.newId()) => {
    const given = variables(id as string, ours)
    return ask(document, isMutation ? { input: { ...given.input, idempotencyKey } } : given)
  }
  const about = (id: unknown) => `${place} with ${JSON.stringify(id)?.slice(0, 100)}`
  const stored = async () => JSON.stringify(await readStoredRows(app))
  const before = await stored()
  const answerOf = async (id: unknown, outcome: string) => {
    const response = await send(id)
    expect(outcomeOf(response), about(id)).toBe(outcome)
    return response.text
  }

  // Another merchant's, another owner's and deleted objects produce the response for a missing object, byte for
  // byte.
  for (const type of takes) {
    const unknown = { type, id: type === 'LedgerEntry' ? `${app.service.newId()}:1` : app.service.newId() }
    const [text, ...others] = await inTurn(spellingsOf(unknown), (id) => answerOf(id, absent))
    expect(new Set(others), place).toEqual(new Set([text]))
    const isOfType = (thing: Thing) => thing.type === type
    const foreign = [...thingsOf(theirs), ...deletedThingsOf(theirs)].filter(isOfType)
    if (!type.startsWith('Asset')) expect(foreign).not.toEqual([])
    const deleted = deletedThingsOf(ours).filter(isOfType)
    const ofOthers = (siblings?.(ours) ?? []).map((id) => ({ type, id }))
    for (const thing of [...foreign, ...deleted, ...ofOthers]) {
      for (const id of spellingsOf(thing)) expect(await answerOf(id, absent), about(id)).toBe(text)
      if (isMutation) expect((await stored()) === before, `${about(thing)} changes nothing`).toBe(true)
    }
  }

  // A global id contains its type; a UUID does not.
  const others = [...oneOfEach(thingsOf(ours)), ...oneOfEach(thingsOf(theirs))]
  for (const { type, id } of others.filter(({ type }) => !takes.includes(type))) {
    if (hasUuid(type)) await answerOf(id, id === ours.merchantId ? (merchantItself ?? absent) : absent)
    await answerOf(toGlobalId(type, id), junk)
  }
  expect((await stored()) === before, place).toBe(true)

  const thing = await own(ours)
  const unchanged = await stored()
  for (const id of someOf(app, junkIds(thing))) expect(outcomeOf(await send(id)), about(id)).toBe(junk)
  for (const id of someOf(app, wrongJson)) {
    const { data, errors } = await send(id)
    expect([data, errors.map(({ extensions }) => extensions.code)], about(id)).toEqual([null, ['INVALID_INPUT']])
  }
  expect((await stored()) === unchanged, place).toBe(true)

  // The same object in every spelling: a mutation replays its result for the same key and input.
  const responses = await inTurn(spellingsOf(thing), async (id) => {
    const response = await send(id, place)
    const data = storesNothing ? null : response.data
    return { outcome: outcomeOf(response), data, stored: await stored() }
  })
  const [first, ...again] = responses
  expect(first?.outcome, place).toBe('found')
  for (const other of again) expect(other, place).toEqual(first)
  expect(first?.stored === unchanged, place).toBe(!isMutation || storesNothing)

  for (const blank of ['', ' ', '\t\n']) expect(outcomeOf(await send(blank)), about(blank)).toBe(empty)
}

function oneOfEach(things: readonly Thing[]): Thing[] {
  return [...new Map(things.map((thing) => [thing.type, thing])).values()]
}

async function inTurn<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await act(item))
  return results
}
