import './app/prepare-node.js'

const { loadEnvFile } = await import('./app/config.ts')
loadEnvFile()
await import('./app/main.ts')
