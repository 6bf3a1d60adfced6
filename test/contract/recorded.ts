import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { Setup } from '../support/app.ts'
import type { Transcript } from './transcript.ts'
import { startTranscript } from './transcript.ts'

/** Where the recorded conversations are. */
export const folder = new URL('recorded/', import.meta.url)

/** Replays a conversation against a fresh service: every byte of every response must be as recorded. */
export async function expectAsRecorded(
  setup: Setup,
  name: string,
  scenario: (transcript: Transcript) => Promise<void>,
): Promise<void> {
  const transcript = startTranscript(setup)
  await scenario(transcript)
  const file = new URL(`${name}.txt`, folder)
  if (process.env.RECORD_CONTRACT === '1') writeFileSync(file, transcript.text())
  expect(transcript.text()).toBe(readFileSync(file, 'utf8'))
}
