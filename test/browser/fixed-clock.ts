// Preloaded into a service and its commands. Their clock stands still at the time in this module's URL, so that the
// pages are the same in every run.
const time = Date.parse(decodeURIComponent(new URL(import.meta.url).search.slice(1)))

Date.now = () => time
