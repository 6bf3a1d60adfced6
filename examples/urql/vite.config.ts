import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // While you work on the page Vite serves it, and the page's own server makes the tokens.
  server: { proxy: { '/token': 'http://127.0.0.1:4300' } },
})
