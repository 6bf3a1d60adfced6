// By the package's own name, because its distance from a built file is another than from its source.
import manifest from 'payout-gateway/package.json' with { type: 'json' }

export const { name, version, license } = manifest

/** How an operator runs a command: only an installed package has one of its own. */
export const cliCommand = import.meta.url.endsWith('.ts') ? 'npm run -s cli --' : 'payout-gateway'
