import './check-node.js'

await import('./main.ts')
