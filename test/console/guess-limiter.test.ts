import { expect, test } from 'vitest'
import { createGuessLimiter } from '../../src/console/guess-limiter.ts'

function start() {
  let nowMs = 1_000
  const limiter = createGuessLimiter(() => nowMs)
  return {
    pass: (ms: number) => {
      nowMs += ms
    },
    /** Guesses wrongly, and returns the seconds to wait instead if the guess is not allowed. */
    guess: (operator: string, address = '203.0.113.7') => limiter.begin({ operator, address }).waitSeconds,
    succeed: (operator: string, address = '203.0.113.7') => {
      const { waitSeconds, succeed } = limiter.begin({ operator, address })
      succeed()
      return waitSeconds
    },
  }
}

test('the guess limiter doubles the waiting time for an operator name with each wrong password after the fifth', () => {
  const { guess, pass } = start()
  for (let count = 0; count < 5; count++) expect(guess('ada', `address ${count}`)).toBe(0)
  const waits = []
  for (let count = 0; count < 8; count++) {
    const wait = guess('ada', `another ${count}`)
    waits.push(wait)
    // A guess that is rejected does not prolong the wait.
    expect(guess('ada', 'another')).toBe(wait)
    pass(wait * 1_000)
    expect(guess('ada', `further ${count}`)).toBe(0)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  expect(guess('ben', 'elsewhere')).toBe(0)
})

test('the guess limiter doubles the waiting time for a client address with each wrong password after the twentieth, for all operators together', () => {
  const { guess, pass } = start()
  for (let count = 0; count < 20; count++) expect(guess(`name ${count}`)).toBe(0)
  const waits = []
  for (let count = 0; count < 12; count++) {
    const wait = guess(`further ${count}`)
    waits.push(wait)
    pass(wait * 1_000)
    expect(guess(`further ${count}`)).toBe(0)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
  expect(guess('ada', '203.0.113.8')).toBe(0)
})

test('the guess limiter forgets the wrong passwords for an operator after that operator signs in, and after an hour', () => {
  const { guess, succeed, pass } = start()
  for (let count = 0; count < 4; count++) guess('ada', `address ${count}`)
  expect(succeed('ada', 'own address')).toBe(0)
  for (let count = 0; count < 5; count++) expect(guess('ada', `address ${count}`)).toBe(0)
  expect(guess('ada', 'one more')).toBe(1)
  pass(3_600_001)
  for (let count = 0; count < 5; count++) expect(guess('ada', `address ${count}`)).toBe(0)
  expect(guess('ada', 'one more')).toBe(1)
})

test('successful sign-ins from an address neither add to the guess limiter’s count of wrong passwords nor reset that count', () => {
  const { guess, succeed } = start()
  for (let count = 0; count < 50; count++) expect(succeed('mallory')).toBe(0)
  for (let count = 0; count < 20; count++) {
    expect(guess(`name ${count}`)).toBe(0)
    if (count < 19) expect(succeed('mallory')).toBe(0)
  }
  expect(succeed('mallory')).toBe(1)
})
