import { describe, expect, test } from 'vitest'
import { parseConnectionUrl } from '../../../src/database/postgres/connection-url.ts'

describe('parseConnectionUrl', () => {
  test('removes the service’s own parameters from the URL of one server', () => {
    const { servers: places, sizes } = parseConnectionUrl(
      'postgres://ada:se%40cret@db.example.com/payouts?sslmode=disable&pool=3&queue=7',
    )

    expect(sizes).toEqual({ connections: 3, queue: 7 })
    expect(places).toEqual([
      {
        name: 'db.example.com:5432/payouts',
        config: {
          application_name: 'payout-gateway',
          connectionString: 'postgres://ada:se%40cret@db.example.com/payouts?sslmode=disable',
        },
      },
    ])
  })

  test('splits a URL with several hosts into one URL for each server', () => {
    const { servers: places, sizes } = parseConnectionUrl(
      'postgresql://ada:secret@10.0.0.1:5432,db2.example.com,[::1]:5433/payouts?target_session_attrs=read-write&pool=3',
    )

    expect(sizes.connections).toBe(3)
    expect(places.map(({ name }) => name)).toEqual([
      '10.0.0.1:5432/payouts',
      'db2.example.com:5432/payouts',
      '[::1]:5433/payouts',
    ])
    expect(places.map(({ config }) => config.connectionString)).toEqual([
      'postgresql://ada:secret@10.0.0.1:5432/payouts',
      'postgresql://ada:secret@db2.example.com/payouts',
      'postgresql://ada:secret@[::1]:5433/payouts',
    ])
  })

  test.each([
    ['postgres://ada:secret@one,,two/payouts', 'a host is missing before or after a comma'],
    ['postgres://ada:secret@one,two,/payouts', 'a host is missing before or after a comma'],
    ['postgres://ada:secret@one:x,two/payouts', 'one:x is not a valid server'],
    ['postgres://ada:secret@one:5432,two:99999/payouts', 'two:99999 is not a valid server'],
    ['postgres://ada:secret@one/payouts?host=one,two', 'name several hosts before the database'],
    ['postgres://ada:secret@one,two/payouts?target_session_attrs=any', 'target_session_attrs must be read-write'],
    ['postgres://ada:secret@one/payouts?target_session_attrs=standby', 'target_session_attrs must be read-write'],
    ['postgres://ada:secret@one,two/payouts?pool=0', 'pool must be a whole number from 1 to 999999'],
  ])('rejects %s with the reason, and does not show the password', (url, fault) => {
    const message = messageOf(() => parseConnectionUrl(url))

    expect(message).toContain(`DATABASE_URL: ${fault}`)
    expect(message).not.toContain('secret')
  })
})

function messageOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    return (error as Error).message
  }
  return ''
}
