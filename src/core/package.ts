import { createRequire } from 'node:module'

type Manifest = { readonly name: string; readonly version: string; readonly license: string }

/** This program's package.json, by the package's own name: its distance from a built file is another than from its source. */
export const { name, version, license }: Manifest = createRequire(import.meta.url)('payout-gateway/package.json')

/** How an operator runs a command: only an installed package has one of its own. */
export const cliCommand = import.meta.url.endsWith('.ts') ? 'npm run -s cli --' : 'payout-gateway'
