import fc from 'fast-check'

/** Two texts that differ in one digit: `text` drawn from `texts`, and `changed`. */
export function oneDigitChanged(texts: fc.Arbitrary<string>): fc.Arbitrary<{ text: string; changed: string }> {
  return oneChanged(texts, /\d/g, '0123456789')
}

/** Two texts that differ in one capital letter. */
export function oneLetterChanged(texts: fc.Arbitrary<string>): fc.Arbitrary<{ text: string; changed: string }> {
  return oneChanged(texts, /[A-Z]/g, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
}

function oneChanged(texts: fc.Arbitrary<string>, places: RegExp, alphabet: string) {
  return texts
    .chain((text) =>
      fc.record({
        text: fc.constant(text),
        at: fc.constantFrom(...[...text.matchAll(places)].map((match) => match.index)),
        character: fc.constantFrom(...alphabet),
      }),
    )
    .filter(({ text, at, character }) => text.charAt(at) !== character)
    .map(({ text, at, character }) => ({ text, changed: text.slice(0, at) + character + text.slice(at + 1) }))
}
