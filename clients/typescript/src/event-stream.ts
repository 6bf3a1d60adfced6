export type StreamEvent = { readonly type: string; readonly id: string | null; readonly data: string }

/**
 * Reads the events of a `text/event-stream` (HTML, "Server-sent events").
 *
 * @param onBytes called for each chunk, heartbeats included
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let fields: { type: string; id: string | null; data: string[] } = { type: 'message', id: null, data: [] }
  try {
    for (let unread = ''; ; ) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      // A line may end with CR and LF: a CR at the end waits for the next chunk.
      const lines = (unread + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      unread = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (fields.data.length > 0) yield { ...fields, data: fields.data.join('\n') }
          fields = { type: 'message', id: null, data: [] }
          continue
        }
        const [, name, text = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
        if (name === 'event') fields.type = text
        else if (name === 'id') fields.id = text
        else if (name === 'data') fields.data.push(text)
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
