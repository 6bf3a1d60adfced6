import type { IncomingMessage } from 'node:http'

/** The most that is read of an answer. */
export const maxResponseBytes = 64 * 1024

/** The beginning of an answer, and whether that is all of it. */
export type TruncatedBody = { readonly beginning: Buffer; readonly isWhole: boolean }

type ResponseHandlers = {
  readonly onEnd: (read: TruncatedBody) => void
  readonly onError: (error: Error) => void
}

/** Reads an answer to its end, or to 64 KiB and then closes its connection; `onEnd` gets its first `keptBytes`. */
export function readResponse(response: IncomingMessage, keptBytes: number, { onEnd, onError }: ResponseHandlers): void {
  const kept: Buffer[] = []
  let size = 0
  const end = () => onEnd({ beginning: Buffer.concat(kept), isWhole: size <= keptBytes })
  response.on('data', (chunk: Buffer) => {
    if (size < keptBytes) kept.push(chunk.subarray(0, keptBytes - size))
    size += chunk.length
    if (size <= maxResponseBytes) return
    end()
    response.destroy()
  })
  response.on('end', end)
  response.on('error', onError)
}
