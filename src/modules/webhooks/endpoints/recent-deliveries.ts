import type { Service } from '../../../operations/context.ts'
import { recentDeliveryCounts } from './repository.ts'

type RecentDeliveries = {
  readonly total: number
  readonly delivered: number
  readonly retried: number
}

const recent = { endpoints: 10, deliveries: 50 }

export async function countRecentDeliveries({ db }: Service): Promise<RecentDeliveries> {
  const counts = await recentDeliveryCounts(db, recent)
  const sum = (name: keyof RecentDeliveries) => counts.reduce((all, row) => all + Number(row[name] ?? 0), 0)
  return { total: sum('total'), delivered: sum('delivered'), retried: sum('retried') }
}
