import { ApolloProvider } from '@apollo/client/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App'
import { client } from './client'
import { loggedIn } from './service'
import './style.css'

const root = createRoot(document.getElementById('root') as HTMLElement)
try {
  const customerId = await loggedIn()
  root.render(
    <StrictMode>
      <ApolloProvider client={client}>
        <App customerId={customerId} />
      </ApolloProvider>
    </StrictMode>,
  )
} catch {
  root.render(<p role="alert">The page’s server can’t be reached. Load the page again in a moment.</p>)
}
