import './app/check-node.js'
import './app/keep-compiled.js'

await import('./app/main.ts')
