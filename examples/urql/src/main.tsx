import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Provider } from 'urql'
import { App } from './App'
import { client } from './client'
import { loggedIn } from './service'
import './style.css'

const root = createRoot(document.getElementById('root') as HTMLElement)
try {
  const customerId = await loggedIn()
  root.render(
    <StrictMode>
      <Provider value={client}>
        <App customerId={customerId} />
      </Provider>
    </StrictMode>,
  )
} catch {
  root.render(<p role="alert">The page’s server can’t be reached. Load the page again in a moment.</p>)
}
