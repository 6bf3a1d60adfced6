import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Puts the artifact that `relay-compiler` wrote in the place of each document, as Relay's plugin for Babel does. */
const relay: Plugin = {
  name: 'relay',
  enforce: 'pre',
  transform(code, id) {
    if (!id.includes('/src/') || !code.includes('graphql`')) return
    const names: string[] = []
    const compiled = code.replace(/graphql`[^`]*?(?:query|mutation|subscription|fragment) (\w+)[^`]*`/g, (_, name) => {
      names.push(name)
      return `artifactOf${name}`
    })
    return names.map((name) => `import artifactOf${name} from './__generated__/${name}.graphql'\n`).join('') + compiled
  },
}

export default defineConfig({
  plugins: [relay, react()],
  // While you work on the page Vite serves it, and the page's own server makes the tokens.
  server: { proxy: { '/token': 'http://127.0.0.1:4300' } },
})
