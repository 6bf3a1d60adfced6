import autocannon from 'autocannon'

// Repeats one request, on machines without wrk: `node autocannon.js <options as JSON>`.
const { load, url, clients, seconds, prefix } = JSON.parse(process.argv[2])
const { body, apiKeys, headers = {} } = load
let sent = 0

function fresh(request) {
  sent++
  const key = `${prefix}-${sent}`
  const withKey = (text) => text.replaceAll('{key}', key)
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withKey(value)]))
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  request.headers = { ...type, ...own, 'x-api-key': apiKeys[sent % apiKeys.length] }
  if (body !== undefined) request.body = withKey(body)
  return request
}

const method = body === undefined ? 'GET' : 'POST'
const seen = await autocannon({
  url,
  connections: clients,
  duration: seconds,
  requests: [{ method, setupRequest: fresh }],
})
const { requests, latency, duration, errors, timeouts, non2xx } = seen
const figures = {
  requests: requests.total,
  microseconds: duration * 1e6,
  p50: latency.p50 * 1000,
  p99: latency.p99 * 1000,
  faults: errors + timeouts + non2xx,
}
process.stdout.write(`${JSON.stringify(figures)}\n`)
