import { test } from './fixtures.ts'

// Controls: each must fail in the teardown of its fixture, or the fixture proves nothing.
test.describe('a test fails if its page', () => {
  test.fail('logs an error', ({ page }) => page.setContent('<script>console.error("x")</script>'))

  test.fail('throws', ({ page }) => page.setContent('<script>throw new Error("x")</script>'))

  test.describe('whose console errors are expected', () => {
    test.use({ expectedComplaints: /^console/ })
    test.fail('sends a request to another host', ({ page }) => page.setContent('<img src="http://example.com/a.png">'))
  })
})

test.describe('a test passes if its page', () => {
  test.use({ expectedComplaints: /^console error: x/ })
  test('logs an error that the test expects', ({ page }) => page.setContent('<script>console.error("x")</script>'))
})
