import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** Silence after which a stream counts as having sent everything for now. */
const silenceMs = 200

/** The response's text when it ends or falls silent: a stream may have no end. */
export async function readBeginning(response: Readable): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk) => {
    text += chunk
  })
  const ended = new Promise((resolve) => response.once('end', () => resolve(true)))
  for (let length = -1; length < withoutComments(text).length; ) {
    length = withoutComments(text).length
    if (await Promise.race([ended, delay(silenceMs, false)])) break
  }
  response.destroy()
  return text
}

/** Removes keep-alive comments. */
function withoutComments(text: string): string {
  return text.replace(/^:\n\n/gm, '')
}
