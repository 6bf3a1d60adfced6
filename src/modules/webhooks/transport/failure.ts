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

/** Merchants can read `message`, so `message` must reveal nothing about the internal network. */
export type DeliveryFailure = { readonly kind: FailureKind; readonly message: string }

/** Node.js callbacks require an `Error`. */
export class DeliveryError extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

export type ConnectionPhase = 'connecting' | 'securing' | 'connected'

export function toDeliveryFailure(error: unknown, phase: ConnectionPhase): DeliveryFailure {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (error instanceof DeliveryError) return { kind: error.kind, message }
  if (phase === 'connecting') return { kind: 'connect', message: `No connection could be made${formatCode(code)}.` }
  if (phase === 'securing') return { kind: 'tls', message: `The TLS handshake failed${formatCode(code)}.` }
  if (code.startsWith('HPE_'))
    return { kind: 'protocol', message: `The response is not valid HTTP${formatCode(code)}.` }
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return { kind: 'reset', message: 'The connection was closed before the response was complete.' }
  return { kind: 'other', message: `The request failed${formatCode(code)}.` }
}

export const addressRefusedFailure: DeliveryFailure = {
  kind: 'address_refused',
  message: 'The host has an address that is neither public nor allowed by WEBHOOK_ALLOW.',
}

function formatCode(code: string): string {
  return code === '' ? '' : ` (${code})`
}
