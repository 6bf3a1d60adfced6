import './app/check-node.js'

await import('./app/main.ts')
