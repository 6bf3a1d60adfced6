import { StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { RelayEnvironmentProvider } from 'react-relay'
import { App } from './App'
import { environment } from './environment'
import { loggedIn } from './service'
import './style.css'

const root = createRoot(document.getElementById('root') as HTMLElement)
try {
  const customerId = await loggedIn()
  root.render(
    <StrictMode>
      <RelayEnvironmentProvider environment={environment}>
        <Suspense fallback={<p className="quiet">Loading …</p>}>
          <App customerId={customerId} />
        </Suspense>
      </RelayEnvironmentProvider>
    </StrictMode>,
  )
} catch {
  root.render(<p role="alert">The page’s server can’t be reached. Load the page again in a moment.</p>)
}
