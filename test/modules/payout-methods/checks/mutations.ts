import fc from 'fast-check'

/** A text from `texts` and the same text with one digit changed. */
export function oneDigitChanged(texts: fc.Arbitrary<string>): fc.Arbitrary<{ text: string; changed: string }> {
  return oneCharacterChanged(texts, /\d/g, '0123456789')
}

export function oneLetterChanged(texts: fc.Arbitrary<string>): fc.Arbitrary<{ text: string; changed: string }> {
  return oneCharacterChanged(texts, /[A-Z]/g, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
}

function oneCharacterChanged(texts: fc.Arbitrary<string>, pattern: RegExp, alphabet: string) {
  return texts
    .chain((text) =>
      fc.record({
        text: fc.constant(text),
        at: fc.constantFrom(...[...text.matchAll(pattern)].map((match) => match.index)),
        character: fc.constantFrom(...alphabet),
      }),
    )
    .filter(({ text, at, character }) => text.charAt(at) !== character)
    .map(({ text, at, character }) => ({ text, changed: text.slice(0, at) + character + text.slice(at + 1) }))
}
