import Sqlite from 'better-sqlite3'

// Loaded before the service: group commit with synchronous=NORMAL, which loses acknowledged payouts in a power cut.
const pragma = Sqlite.prototype.pragma
Sqlite.prototype.pragma = function (source: string, options?: Sqlite.PragmaOptions) {
  if (source === 'synchronous = FULL') return pragma.call(this, 'synchronous = NORMAL', options)
  const result = pragma.call(this, source, options)
  // The service reads the pragma back after setting it.
  return source === 'synchronous' && result === 1 ? 2 : result
}
