// The manifest is imported by the package's name, because the relative paths from the built file and from the source
// differ.
import manifest from 'payout-gateway/package.json' with { type: 'json' }

export const { name, version, license } = manifest

/** Only an installed package has the command `payout-gateway`. */
export const cliCommand = import.meta.url.endsWith('.ts') ? 'npm run -s cli --' : 'payout-gateway'
