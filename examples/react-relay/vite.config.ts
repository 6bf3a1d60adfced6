import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Replaces each document with the artifact of `relay-compiler`, like Relay's Babel plugin. */
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
  // During development Vite serves the page, and the page's own server issues the tokens.
  server: { proxy: { '/token': 'http://127.0.0.1:4300' } },
})
