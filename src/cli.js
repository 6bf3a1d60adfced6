import './check-node.js'

await import('./cli.ts')
