/** One step of a batch: a prepared statement run with values, or (`values` null) only described. */
export type Step = {
  /** The name under which the connection keeps the statement. */
  readonly name: string
  /** Its text where this connection has not prepared it yet. */
  readonly text: string | null
  readonly values: readonly (string | null)[] | null
  readonly toRow: ((values: (string | null)[]) => unknown) | null
}

/**
 * What a client says to run steps, in PostgreSQL's protocol 3.0: Parse, Describe, Bind and Execute of each, and one Sync
 * ("Frontend/Backend Protocol", Message Formats). In one buffer, because a write of many small ones costs more than the
 * rest of a payout.
 */
export function messagesOf(steps: readonly Step[]): Buffer {
  length = 0
  for (const { name, text, values } of steps) {
    if (text !== null) parse(name, text)
    if (values === null) describe(name)
    else {
      bind(name, values)
      execute()
    }
  }
  message('S', () => {})
  return Buffer.from(buffer.subarray(0, length))
}

// One for all: it is filled and copied without a break.
let buffer = Buffer.allocUnsafe(64 * 1024)
let length = 0

function parse(name: string, text: string): void {
  message('P', () => {
    string(name)
    string(text)
    int16(0)
  })
}

function describe(name: string): void {
  message('D', () => {
    byte('S')
    string(name)
  })
}

/** Values and rows are all text. */
function bind(name: string, values: readonly (string | null)[]): void {
  message('B', () => {
    string('')
    string(name)
    int16(0)
    texts(values)
    int16(0)
  })
}

/** All rows at once. */
function execute(): void {
  message('E', () => {
    string('')
    int32(0)
  })
}

function message(type: string, write: () => void): void {
  byte(type)
  const start = length
  int32(0)
  write()
  buffer.writeInt32BE(length - start, start)
}

function texts(values: readonly (string | null)[]): void {
  int16(values.length)
  for (const value of values) {
    if (value === null) {
      int32(-1)
      continue
    }
    const size = Buffer.byteLength(value)
    int32(size)
    need(size)
    length += buffer.write(value, length)
  }
}

/** A text that ends with a zero. */
function string(value: string): void {
  need(Buffer.byteLength(value) + 1)
  length += buffer.write(value, length)
  buffer[length++] = 0
}

function byte(character: string): void {
  need(1)
  buffer[length++] = character.charCodeAt(0)
}

function int16(value: number): void {
  need(2)
  length = buffer.writeInt16BE(value, length)
}

function int32(value: number): void {
  need(4)
  length = buffer.writeInt32BE(value, length)
}

function need(size: number): void {
  if (length + size <= buffer.length) return
  const larger = Buffer.allocUnsafe(2 * (length + size))
  buffer.copy(larger, 0, 0, length)
  buffer = larger
}
