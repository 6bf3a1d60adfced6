import { describe, expect, test } from 'vitest'
import { acceptedMediaTypes, preferenceFor } from '../../src/server/http/content-negotiation.ts'

const json = 'application/json'

describe('preferenceFor application/json', () => {
  test.each([
    [undefined, 1],
    ['', 1],
    ['*/*', 1],
    ['application/json', 1],
    ['APPLICATION/JSON', 1],
    ['text/html, application/*;q=0.5', 0.5],
    ['application/json;q=0', 0],
    ['application/json ; Q=0.3', 0.3],
    ['application/json;charset=utf-8;q=0.3', 0.3],
    ['application/json;q=0.3;v=1', 0.3],
    // The most specific range wins, wherever it is.
    ['*/*;q=0, application/json', 1],
    ['application/json;q=0, application/*, */*', 0],
    ['application/*;q=0, */*', 0],
    ['application/json;q=0.2, application/json;q=0.4', 0.4],
    // An invalid quality is ignored.
    ['application/json;q=2', 1],
    ['application/json;q=0.1234', 1],
    ['application/json;q=', 1],
    ['application/json;q=1.9', 1],
    ['application/jsonp, text/json, application', 0],
    ['text/html', 0],
    [',;,', 0],
  ])('with Accept: %s has the quality %s', (accept, quality) => {
    expect(preferenceFor(json, accept).quality).toBe(quality)
  })

  test('is `explicit` if Accept contains the type itself, and not only a range', () => {
    expect([json, 'application/*', '*/*', 'text/html'].map((accept) => preferenceFor(json, accept).isExplicit)).toEqual(
      [...[true, false, false, false]],
    )
  })
})

describe('the media type of a GraphQL response', () => {
  const newer = 'application/graphql-response+json'
  const events = 'text/event-stream'
  test.each([
    [undefined, json, null],
    ['*/*', json, null],
    ['application/*', json, null],
    [`${newer}, ${json}`, newer, null],
    [`${newer};q=0.5, ${json}`, json, null],
    [`${newer};q=0, */*`, json, null],
    [`${json};q=0, */*`, newer, null],
    [`${json};q=0`, null, null],
    [`${json}, multipart/mixed`, json, 'multipart/mixed'],
    [`${json}, ${events}`, json, events],
    [`${json};q=0.5, ${events}`, null, events],
    [`${events};q=0.1, multipart/mixed`, null, 'multipart/mixed'],
    [`${events}, */*`, json, events],
    ['text/*', null, events],
    [`${events};q=0`, null, null],
    ['text/html', null, null],
  ])('with Accept: %s is %s, or %s for a stream', (accept, document, stream) => {
    expect(acceptedMediaTypes(accept)).toEqual({ json: document, stream })
  })
})
