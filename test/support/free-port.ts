import { findFreePort as freePortAt } from '../../src/app/ports.ts'

/** A port that nobody listens on: where something is to be has to be known before it can be started. */
export function freePort(): Promise<number> {
  return freePortAt('127.0.0.1')
}
