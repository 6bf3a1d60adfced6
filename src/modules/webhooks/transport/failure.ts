/** Why no whole answer came, for whoever reads the log of deliveries. */
const failureKinds = [
  'url_refused',
  'dns',
  'address_refused',
  'connect',
  'tls',
  'reset',
  'protocol',
  'timeout',
  'other',
] as const
export type FailureKind = (typeof failureKinds)[number]

/** A failure with a sentence about it, which tells nothing of what is inside: it is shown to the merchant. */
export type DeliveryFailure = { readonly kind: FailureKind; readonly message: string }

/** A failure that is thrown where only errors pass. */
export class DeliveryError extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** How far a connection had come when it failed. */
export type ConnectionPhase = 'connecting' | 'securing' | 'connected'

/** What an error of a connection means. */
export function toDeliveryFailure(error: unknown, phase: ConnectionPhase): DeliveryFailure {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (error instanceof DeliveryError) return { kind: error.kind, message }
  if (phase === 'connecting') return { kind: 'connect', message: `No connection could be made${formatCode(code)}.` }
  if (phase === 'securing') return { kind: 'tls', message: `TLS could not be agreed on${formatCode(code)}.` }
  if (code.startsWith('HPE_')) return { kind: 'protocol', message: `The answer is no HTTP${formatCode(code)}.` }
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return { kind: 'reset', message: 'The connection was closed before the answer was complete.' }
  return { kind: 'other', message: `The request failed${formatCode(code)}.` }
}

/** What is said of a host that is not outside, however it was found out. */
export const addressRefusedFailure: DeliveryFailure = {
  kind: 'address_refused',
  message: 'The host has an address that is not public, and that WEBHOOK_ALLOW does not allow.',
}

function formatCode(code: string): string {
  return code === '' ? '' : ` (${code})`
}
