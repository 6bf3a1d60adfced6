import { attentionPage } from './attention-page.ts'
import { booksPage } from './books-page.ts'
import type { ConsolePage } from './console-page.ts'
import { logPage } from './log-page.ts'
import { merchantPage } from './merchant-page.ts'
import { merchantsPage } from './merchants-page.ts'
import { overviewPage } from './overview-page.ts'
import { payoutPage } from './payout-page.ts'
import { payoutsPage } from './payouts-page.ts'
import { allFeesPage, allRatesPage, pricesPage } from './prices-page.ts'
import { railsPage } from './rails-page.ts'
import { walletPage } from './wallet-page.ts'
import { webhookPage } from './webhook-page.ts'
import { webhooksPage } from './webhooks-page.ts'

/** Every page of the console. */
export const consolePages: readonly ConsolePage[] = [
  overviewPage,
  payoutsPage,
  payoutPage,
  attentionPage,
  merchantsPage,
  merchantPage,
  walletPage,
  webhooksPage,
  webhookPage,
  railsPage,
  pricesPage,
  allRatesPage,
  allFeesPage,
  booksPage,
  logPage,
]
