import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** How long a stream is silent that is taken to have told all that it has for now. */
const silenceMs = 200

/** What an answer has told when it ends, or falls silent: a stream may have no end. */
export async function readBeginning(answer: Readable): Promise<string> {
  let text = ''
  answer.setEncoding('utf8')
  answer.on('data', (chunk) => {
    text += chunk
  })
  const ended = new Promise((resolve) => answer.once('end', () => resolve(true)))
  for (let length = -1; length < told(text).length; ) {
    length = told(text).length
    if (await Promise.race([ended, delay(silenceMs, false)])) break
  }
  answer.destroy()
  return text
}

/** Without what only keeps the connection open. */
function told(text: string): string {
  return text.replace(/^:\n\n/gm, '')
}
