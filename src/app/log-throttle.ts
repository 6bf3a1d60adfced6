/** What was told is not told again within this time: what fails is tried over and over, for thousands of endpoints or orders. */
const repeatIntervalMs = 10 * 60 * 1000

/** Faults that are remembered. */
const maxRemembered = 100

/** Tells each fault by its message now and then. */
export function throttleByMessage(tell: (error: unknown) => void): (error: unknown) => void {
  const toldAt = new Map<string, number>()
  return (error) => {
    const message = String(error)
    const now = performance.now()
    if (now - (toldAt.get(message) ?? Number.NEGATIVE_INFINITY) < repeatIntervalMs) return
    if (toldAt.size >= maxRemembered) toldAt.clear()
    toldAt.set(message, now)
    tell(error)
  }
}
