import { readFile } from 'node:fs/promises'
import { invalidInput } from '../../core/errors.ts'

/** @throws DomainError INVALID_INPUT */
export async function readApiKey(path: string): Promise<string> {
  const key = (await readFile(path, 'utf8')).trim()
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw invalidInput([{ field: '--key-file', code: 'INVALID_FORMAT', message: 'must contain one API key' }])
}
