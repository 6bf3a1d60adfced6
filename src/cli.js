import './app/check-node.js'

await import('./app/cli.ts')
