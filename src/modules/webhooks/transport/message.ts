import type { Mode } from '../../../operations/context.ts'

/** An event as it goes out. */
export type EventMessage = {
  /** `evt_` and a UUID; a receiver that gets it again knows it by this. */
  readonly id: string
  readonly type: string
  /** When it happened, in ISO 8601. */
  readonly timestamp: string
  readonly sequence: number
  readonly object: { readonly type: string; readonly id: string; readonly version: number }
  readonly mode: Mode
  /** The object as of the event in its REST shape: JSON, as it was written once for all who get it. */
  readonly data: string
}

/** What is posted to an endpoint at one attempt. */
export type WebhookRequest = { readonly body: string; readonly headers: Readonly<Record<string, string>> }
