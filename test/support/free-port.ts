import { findFreePort as freePortAt } from '../../src/app/ports.ts'

/** Returns a free port, for servers whose address must be known before they start. */
export function freePort(): Promise<number> {
  return freePortAt('127.0.0.1')
}
