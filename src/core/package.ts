// The source file and the built file have different relative paths to package.json, so package.json is imported by the
// package's name.
import manifest from 'payout-gateway/package.json' with { type: 'json' }

export const { name, version, license } = manifest

/** The command `payout-gateway` exists only if the package is installed. */
export const cliCommand = import.meta.url.endsWith('.ts') ? 'npm run -s cli --' : 'payout-gateway'
