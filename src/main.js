import './app/prepare-node.js'

await import('./app/main.ts')
