import { lineOf, service } from './client.ts'

// Every payout, newest first, page by page.
for (let page = 1, pages = 1; page <= pages; page++) {
  const { data, pagination } = await service.get('/api/payouts', { query: { page, limit: 100 } })
  for (const payout of data) process.stdout.write(`${lineOf(payout)}\n`)
  pages = Math.ceil(pagination.total / 100)
}
