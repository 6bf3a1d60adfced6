import './app/check-node.js'
import './app/compile-cache.js'

await import('./app/main.ts')
