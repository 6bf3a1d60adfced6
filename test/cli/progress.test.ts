import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { expect, test } from 'vitest'
import { createProgress } from '../../src/cli/output.ts'

function stream(isTTY: boolean) {
  const written: string[] = []
  const output = Object.assign(new PassThrough(), { isTTY, columns: 80 })
  output.on('data', (bytes) => written.push(String(bytes)))
  return { stream: output as unknown as WriteStream, text: () => written.join('') }
}

test('a progress bar on a terminal shows the percentage, the counts, the rate and the current step', () => {
  const { stream: terminal, text } = stream(true)
  const progress = createProgress(terminal)
  progress.show('payouts', 0, 2_000)
  progress.show('payouts', 2_000, 2_000)
  progress.end()
  expect(text()).toContain('[--------------------] 0 % 0/2,000 0/s payouts')
  expect(text()).toMatch(/\[={20}\] 100 % 2,000\/2,000 [\d,]+\/s payouts/)
  // After any exit the terminal wraps lines and shows its cursor.
  expect(text()).not.toContain('\u001b[?')
})

test('a stopped progress bar writes nothing more, and does not keep the process alive', () => {
  const { stream: terminal, text } = stream(true)
  const progress = createProgress(terminal)
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
  const before = timers()
  progress.show('payouts', 1, 10)
  expect(timers()).toBe(before + 1)
  progress.end()
  expect(timers()).toBe(before)
  const output = text()
  progress.show('payouts', 5, 10)
  expect(text()).toBe(output)
})

test('a progress bar writes nothing without a terminal', () => {
  const { stream: file, text } = stream(false)
  const progress = createProgress(file)
  progress.show('payouts', 1, 2)
  progress.show('payouts', 2, 2)
  progress.end()
  expect(text()).toBe('')
})
