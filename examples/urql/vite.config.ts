import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // During development Vite serves the page, and the page's own server issues the tokens.
  server: { proxy: { '/token': 'http://127.0.0.1:4300' } },
})
