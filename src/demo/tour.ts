import { toGlobalId } from '../graphql/schema/global-ids.ts'
import { customers as customerList } from '../modules/customers/list.ts'
import { apiKeyById } from '../modules/merchants/repository.ts'
import { payoutMethods } from '../modules/payout-methods/list.ts'
import { wallets } from '../modules/wallets/list.ts'
import type { Service } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { GraphiqlTab } from '../server/pages/graphiql.ts'
import { demoApiKey, demoKey } from './demo.ts'

/**
 * The tabs with which GraphiQL opens where the demo is: one story, in order, each of which runs as it is and again. The
 * last steps are about the payout that tab 6 makes, named by its key: its id is known to nobody when the page is made.
 *
 * The ids are those of the oldest things of their kind, so they stay the same whatever the reader makes, and a key of the
 * tour is sent with the same input after a restart.
 */
export async function tourTabs(service: Service): Promise<readonly GraphiqlTab[]> {
  const ids = await findDemoIds(service)
  const headers = formatVariables({ 'x-api-key': demoApiKey })
  return [
    { query: whoAmI },
    { query: customers },
    { query: quote, variables: formatVariables({ input: quoteInput(ids), currency: 'NGN' }) },
    { query: openWallet, variables: formatVariables({ input: walletInput(ids) }) },
    { query: deposit, variables: formatVariables({ input: depositInput(ids) }) },
    { query: pay, variables: formatVariables({ input: payoutInput(ids) }) },
    { query: watch, variables: formatVariables({ payoutKey }) },
    { query: bank, variables: formatVariables({ input: settlementInput }) },
    { query: books, variables: formatVariables({ walletId: ids.adasWallet, lines: 10 }) },
    { query: events, variables: formatVariables({ after: null, types: payoutEvents }) },
    { query: outcome, variables: formatVariables({ input: outcomeInput }) },
  ].map((tab) => ({ ...tab, headers }))
}

type DemoIds = Awaited<ReturnType<typeof findDemoIds>>

async function findDemoIds(service: Service) {
  const merchantId = (await apiKeyById(service.db, { id: demoKey.id }))?.merchantId ?? ''
  const context = createContext(service, merchantId)
  const { items } = await customerList.slice(context, { last: 100 })
  const customerOf = (email: string) => items.find((customer) => customer.email === email)?.id
  const [ada, kola] = [customerOf('ada.obi@example.com'), customerOf('finance@kolafoods.example')]
  const bankOf = async (customerId: string | undefined) =>
    toGlobalId(
      'BankPayoutMethod',
      firstIdOf(await payoutMethods.slice(context, { ...oldestOwnedBy(customerId), type: 'BANK' })),
    )
  return {
    ada: toGlobalId('Customer', ada ?? ''),
    adasWallet: toGlobalId(
      'Wallet',
      firstIdOf(await wallets.slice(context, { ...oldestOwnedBy(ada), currency: 'USDC' })),
    ),
    adasBank: await bankOf(ada),
    mistypedBank: await bankOf(kola),
  }
}

function oldestOwnedBy(customerId: string | undefined) {
  return { owner: customerId === undefined ? ('any' as const) : { customerId }, last: 1 }
}

/** The id of the one item; empty where somebody has deleted them all, and the tab then says what is missing. */
function firstIdOf({ items: [item] }: { readonly items: readonly { readonly id: string }[] }): string {
  return item?.id ?? ''
}

function formatVariables(variables: object): string {
  return JSON.stringify(variables, null, 2)
}

const whoAmI = `# 1. Who am I? Press the pink button; notes below.
query _1_Me {
  merchant {
    name
    id # The same for ever: clients cache by it.
    uuid # As REST names it. An id may be either.
    createdAt
    wallets {
      totalCount
      nodes {
        description
        balance # A string: no amount is rounded.
        currency
      }
    }
  }
}

# Welcome! These tabs tell one story. Press the pink
# button (or Ctrl-Enter) in each, from left to right;
# every one can be run again. All of it happens in
# this sandbox: no real money moves.
#
# Who am I? The API key under "Headers", below,
# answers that. It is the demo merchant's.
#
# Try next: put the cursor after "name" and press
# Ctrl-Space to see what else there is to ask for.
# The book at the upper left explains everything.
`

const customers = `# 2. The customers and what they own. Notes below.
query _2_Browse {
  customers(first: 5) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      id
      type
      status
      personalInfo {
        firstName
        lastName
      }
      businessInfo {
        businessName
      }
      wallets {
        nodes {
          description
          balance
          currency
        }
      }
      payoutMethods {
        nodes {
          ... on BankPayoutMethod {
            id
            bankName
            accountNumber
            currency
          }
          ... on WalletPayoutMethod {
            id
            network
            walletAddress
            currency
          }
        }
      }
    }
  }
}

# The merchant serves customers, and each has
# wallets (where money is) and payout methods (where
# it can go).
#
# Every list is a connection: "first" says how many,
# "pageInfo" how to go on. "nodes" holds the items.
#
# Try next: (first: 2), and for what follows also the
# endCursor of that answer: (first: 2, after: "...").
# Or (filter: { customerType: BUSINESS }).
`

const errorFields = `... on UserError {
      code
      message
      field
    }`

const quote = `# 3. What would a payout do? Notes below.
query _3_Quote($input: PayoutQuoteInput!, $currency: String!) {
  payoutQuote(input: $input) {
    __typename
    ... on PayoutQuote {
      recipientName
      amount
      fee
      total
      exchangeRate
      amountFiat
      recipientCurrency
      balanceAfter
      warnings {
        field
        code
        message
      }
    }
    ... on InsufficientFundsError {
      available
      required
    }
    ${errorFields}
  }
  payoutMethodRequirements(currency: $currency) {
    country
    fields {
      name
      label
      isRequired
      maxLength
      example
      checks
    }
  }
}

# Before paying. First a payout thought through:
# fee, rate, what arrives and what would be left. It
# writes nothing.
#
# Look at "warnings": somebody mistyped this account
# number, and its check digit (NUBAN) gives it away.
# A warning refuses nothing, but have somebody look.
#
# Then what a form must ask for to add an account.
#
# Try next: an amount of "999999" in the variables
# below. The answer is an InsufficientFundsError,
# which is data like any other: a result is its
# payload, or the error that says why there is none.
`

function quoteInput({ mistypedBank }: DemoIds) {
  return { assetCode: 'USDC', amount: '100', recipient: { payoutMethodId: mistypedBank } }
}

const openWallet = `# 4. Open a wallet. Notes below.
mutation _4_Open($input: CreateWalletInput!) {
  createWallet(input: $input) {
    __typename
    ... on CreateWalletPayload {
      wallet {
        id
        description
        currency
        balance
        addresses {
          network
          address
        }
        customer {
          email
        }
      }
    }
    ${errorFields}
  }
}

# Open a wallet for Ada, one of the customers. It
# starts at zero and gets an address for deposits.
#
# Run it twice: the same wallet answers, because the
# idempotencyKey says that it is the same request. A
# client that got no answer simply sends again.
#
# Try next: another idempotencyKey in the variables,
# for another wallet. The same key with another
# description is refused: IDEMPOTENCY_KEY_REUSED.
`

function walletInput({ ada }: DemoIds) {
  const description = 'Holiday savings'
  return { customerId: ada, currency: 'USDC', network: 'POLYGON', description, idempotencyKey: 'tour: open a wallet' }
}

const deposit = `# 5. Send Ada money. Notes below.
mutation _5_Fund($input: SimulateDepositInput!) {
  simulateDeposit(input: $input) {
    __typename
    ... on SimulateDepositPayload {
      wallet {
        id
        description
        currency
        balance
      }
    }
    ${errorFields}
  }
}

# Play the outside world, and send Ada 250 USDC.
# This goes to the wallet that she already had.
#
# Run it twice: a reference pays once, so the balance
# stays. Another reference is another deposit.
#
# Try next: the id of your new wallet from tab 4 as
# walletId, with another reference.
`

function depositInput({ adasWallet }: DemoIds) {
  return { walletId: adasWallet, amount: '250', reference: 'tour: first deposit' }
}

const pay = `# 6. Pay. Notes below.
mutation _6_Pay($input: CreatePayoutInput!) {
  createPayout(input: $input) {
    __typename
    ... on CreatePayoutPayload {
      payout {
        id
        transactionId
        status
        amount
        fee
        exchangeRate
        amountFiat
        recipientName
        balance # What the wallet held after it.
      }
    }
    ... on InsufficientFundsError {
      available
      required
    }
    ... on InvalidInputError {
      fields {
        field
        message
      }
    }
    ${errorFields}
  }
}

# Pay: 25.50 USDC of Ada's arrive at her bank, in
# naira. Amount and fee leave her wallet together, and
# the answer comes only when that is on disk.
#
# Run it twice: the same payout answers and nothing
# more is paid. An idempotencyKey is required here,
# because a payout made twice is the one mistake that
# must not happen. It is remembered for ever, also by
# the REST endpoint.
#
# Try next: another idempotencyKey, to pay again. Or
# an amount of "999999", to see what is missing.
`

/** The key of the tour's payout, by which the tabs after it find it. */
const payoutKey = 'tour: first payout'

function payoutInput({ ada, adasBank }: DemoIds) {
  return {
    customerId: ada,
    assetCode: 'USDC',
    amount: '25.50',
    recipient: { payoutMethodId: adasBank },
    paymentPurpose: 'PERSONAL_TRANSFERS',
    narration: 'From savings',
    idempotencyKey: payoutKey,
  }
}

const watch = `# 7. Watch the payout. Notes below.
subscription _7_Watch($payoutKey: String!) {
  payoutChanged(idempotencyKey: $payoutKey) {
    id
    transactionId
    status
    events {
      status
      cause
      createdAt
    }
    wallet {
      description
      balance
    }
  }
}

# What became of it? Be told: your payout of tab 6
# as it is now, and again whenever its status changes.
# Its idempotencyKey names it as well as its id does,
# and is known even where an answer got lost.
#
# The answer stays open until you press the button
# again, or go to another tab. To watch it change,
# open this page in a second window beside this one,
# and be the bank in tab 8 there.
#
# Try next: to ask once instead, "query" in the place
# of "subscription", and "payout" of "payoutChanged".
`

const bank = `# 8. Play the bank. Notes below.
mutation _8_Bank($input: SimulatePayoutInput!) {
  simulatePayout(input: $input) {
    __typename
    ... on SimulatePayoutPayload {
      payout {
        id
        transactionId
        status
        recipientName
        amount
        events {
          status
          cause
          createdAt
        }
        wallet {
          balance
        }
      }
    }
    ${errorFields}
  }
}

# Play the bank, and pay what you sent in tab 6.
# Whoever watches in tab 7 is told.
#
# Run it twice, with another key as well: the same
# answer, and nothing is paid again. But FAILED, now
# that it is paid, is refused as a conflict.
#
# Try next: the status RETURNED with another
# idempotencyKey. The bank sends it back, and amount
# and fee are in the wallet again. So they are after
# FAILED, for a payout that is still PROCESSING.
`

const settlementInput = {
  payoutIdempotencyKey: payoutKey,
  status: 'COMPLETED',
  cause: 'Paid by the bank',
  idempotencyKey: 'tour: the bank pays',
}

const books = `# 9. The books of a wallet. Notes below.
query _9_Books($walletId: ID!, $lines: Int!) {
  wallet(id: $walletId) {
    description
    balance
    ledgerEntries(first: $lines) {
      totalCount
      nodes {
        createdAt
        kind
        direction
        amount
        balanceAfter
        reference
        payout {
          transactionId
          recipientName
          status
          events {
            status
            cause
          }
        }
      }
    }
  }
}

# The books of Ada's wallet: every movement of its
# money, newest first, each with the balance that it
# left, and what became of its payouts. No line is
# ever changed or removed; their sum is the balance.
#
# "npm run -s cli -- audit" recomputes all of it for
# all wallets, at any time.
#
# Try next: (first: $lines, filter: {kind: DEPOSIT}),
# then a tab of your own by the plus beside the tabs:
# it has the key of the demo merchant already.
`

const payoutEvents = ['PAYOUT_FAILED', 'PAYOUT_RETURNED']

const events = `# 10. Events and webhooks. Notes below.
query _10_Events($after: String, $types: [EventType!]) {
  events(after: $after, filter: { types: $types }) {
    nodes {
      sequence
      type
      version # Counts the events of one payout.
      payout {
        transactionId
        recipientName
        status # As it is now.
      }
    }
    after # Pass it on to read what comes next.
    hasMore
  }
  webhookEndpoints(first: 10) {
    nodes {
      url
      status
      deliveries(first: 5) {
        nodes {
          sequence
          eventType
          status
          attempts {
            status
            answer
            durationMs
          }
        }
      }
    }
  }
}

# Whoever has to know, knows. What happens is an
# event, with a number: who remembers the last one
# misses nothing. Here is what went wrong, oldest
# first; "after" goes on behind a number.
#
# And webhooks: where events are posted to, and what
# became of each. The demo's go to the sandbox itself.
# Pay once more in tab 6, with another key, and look
# again: it was told within a moment.
#
# Try next: be told here as it happens. In a new tab,
# subscription { eventPublished { sequence type } }
`

const outcome = `# 11. Every outcome. Notes below.
mutation _11_Outcome($input: CreatePayoutInput!) {
  createPayout(input: $input) {
    __typename
    ... on CreatePayoutPayload {
      payout {
        transactionId
        accountNumber
        status
        timeline {
          state
          at
          cause
        }
      }
    }
    ${errorFields}
  }
}

# Every outcome, at once. The sandbox has a bank
# of its own, which does what the account's last two
# digits say; /docs#sandbox lists them. This one pays,
# and sends the money back a day later.
#
# Run it twice: the same payout answers, and its
# timeline says how far it has come.
#
# Try next: have a day pass, then look again here.
# In a new tab:
# mutation { advanceClock(input: {by: "P1D"}) {
#   __typename } }
`

const outcomeInput = {
  assetCode: 'USDT',
  amount: '5',
  recipient: {
    bankAccount: {
      accountName: 'Ada Obi',
      accountNumber: '9999999920',
      bankName: 'Access Bank',
      bankCode: '044',
      recipientCurrency: 'NGN',
      recipientCountry: 'NIGERIA',
    },
  },
  paymentPurpose: 'GIFTS',
  idempotencyKey: 'tour: returned a day later',
}
