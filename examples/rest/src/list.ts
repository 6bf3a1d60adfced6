import { lineOf, service } from './client.ts'

// Every payout, newest first, page by page.
for (let page = 1, pages = 1; page <= pages; page++) {
  const { data: answer, error } = await service.GET('/api/payouts', { params: { query: { page, limit: 100 } } })
  if (error) throw new Error(error.message)
  for (const payout of answer.data) process.stdout.write(`${lineOf(payout)}\n`)
  pages = Math.ceil(answer.pagination.total / 100)
}
