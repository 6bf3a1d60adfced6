import './app/prepare-node.js'

await import('./cli/cli.ts')
