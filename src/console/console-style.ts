import { pageStyle } from '../server/pages/page-layout.ts'

export const consoleStyle = `${pageStyle}
:root {
  --good: light-dark(#17693f, #6fd39d);
  --busy: light-dark(#2456c7, #8fb2ff);
  --warn: light-dark(#855700, #e8bb5f);
  --bad: light-dark(#b3261e, #ff9a91);
}
body { display: flex; flex-direction: column; min-height: 100dvh; font-size: 14px; line-height: 1.45 }
.skip { position: absolute; left: -99rem; padding: .5rem .8rem; background: var(--paper) }
.skip:focus { left: .5rem; top: .5rem; z-index: 1 }
body > header {
  display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; align-items: center; padding: .45rem 1.25rem;
  background: var(--panel); border-bottom: 1px solid var(--line);
}
.name { font-weight: 700; color: var(--ink) }
.mode { padding: .05rem .5rem; border: 1px solid var(--line); border-radius: 99px; font-size: .8rem; color: var(--faint) }
.mode.live { border-color: var(--bad); color: var(--bad); font-weight: 600 }
header nav { flex-basis: 100% }
header nav ul { display: flex; flex-wrap: wrap; gap: .1rem .2rem; margin: 0 -.55rem; padding: 0; list-style: none }
header nav a { display: block; padding: .3rem .55rem; border-radius: 5px; color: var(--ink) }
header nav a:hover { background: var(--code) }
header nav a[aria-current] { background: var(--accent); color: var(--paper) }
.operator { display: flex; flex-wrap: wrap; gap: .3rem .9rem; align-items: center; font-size: .86rem }
.operator button { padding: .15rem .55rem }
.search { display: flex; gap: .35rem; flex: 1 1 16rem; max-width: 26rem; margin-left: auto }
.search input { flex: 1; min-width: 0; padding: .2rem .5rem }
.search button { padding: .2rem .6rem }
main.entrance { max-width: 30rem }
.entrance form { display: grid; gap: .9rem; margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: 7px; background: var(--panel) }
.entrance label { font-weight: 600 }
.entrance small { font-weight: 400; color: var(--faint) }
.entrance button { justify-self: start; background: var(--accent); border-color: var(--accent); color: var(--paper) }
main { flex: 1 0 auto; width: 100%; max-width: 84rem; margin: 0 auto; padding: 1.4rem 1.25rem 3rem }
main:focus { outline: none }
h1 { font-size: 1.5rem; margin: 0 0 .6rem; overflow-wrap: anywhere }
h2 { font-size: 1.08rem; margin: 1.8rem 0 .4rem }
h2 small, h3 small { font-size: .86rem; font-weight: 400 }
h3 { font-size: .92rem; margin: 1.1rem 0 .2rem }
.faint, .empty { color: var(--faint) }
.money { font-variant-numeric: tabular-nums; white-space: nowrap }
table { width: 100%; border-collapse: collapse; margin: .5rem 0 }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
th, td { padding: .38rem 1.1rem .38rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th { font-size: .78rem; font-weight: 600; color: var(--faint); white-space: nowrap }
td { overflow-wrap: anywhere }
td a > code, td strong { white-space: nowrap }
td > div > p:first-child { margin-top: 0 }
td > div > p:last-child { margin-bottom: 0 }
.number { text-align: right; padding-right: 1.2rem }
time { white-space: nowrap; font-variant-numeric: tabular-nums }
.status { white-space: nowrap; font-weight: 600; font-size: .86rem }
.status.good { color: var(--good) } .status.busy { color: var(--busy) }
.status.warn { color: var(--warn) } .status.bad { color: var(--bad) }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: .1rem 2rem; margin: .6rem 0 }
.facts > div { padding: .3rem 0; border-bottom: 1px solid var(--line) }
.facts dt { font-size: .78rem; color: var(--faint) }
.facts dd { margin: 0; overflow-wrap: anywhere }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 10rem), 1fr)); gap: .75rem; margin: .8rem 0; padding: 0; list-style: none }
.tiles li { padding: .7rem .9rem; border: 1px solid var(--line); border-left: 4px solid var(--good); border-radius: 7px; background: var(--panel) }
.tiles li.plain { border-left-color: var(--line) }
.tiles li.warn { border-left-color: var(--warn) } .tiles li.bad { border-left-color: var(--bad) }
.tiles strong { display: block; font-size: 1rem }
.tiles p { margin: .15rem 0 0; color: var(--faint) }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 12rem), 1fr)); margin: .6rem 0 1rem; padding: 0; border: 1px solid var(--line); border-radius: 8px; list-style: none; overflow: hidden }
.cards li { position: relative; padding: .8rem 1rem; box-shadow: -1px -1px 0 var(--line) }
.cards li:hover { background: var(--panel) }
.cards a { color: var(--faint); font-size: .86rem }
.cards a::after { content: ''; position: absolute; inset: 0 }
.cards strong { display: block; margin: .1rem 0; font-size: 1.45rem; font-weight: 650; letter-spacing: -.02em; font-variant-numeric: tabular-nums }
.cards p { margin: 0; font-size: .86rem; color: var(--faint) }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: 1rem; margin: 1rem 0 }
.chart { margin: 0; min-width: 0 }
.charts > .chart:only-child { max-width: 38rem }
.chart figcaption { flex-wrap: wrap; gap: .2rem 1rem; padding: .35rem .9rem }
.chart figcaption strong { font-size: .92rem; color: var(--ink) }
.chart > svg { display: block; width: 100%; height: auto; padding: .4rem .5rem 0 }
.chart text { font-size: 10.5px; fill: var(--faint); font-variant-numeric: tabular-nums }
.chart .grid { stroke: var(--line); stroke-width: 1 }
.chart details { padding: .1rem .9rem .5rem }
.chart summary { font-size: .82rem; color: var(--faint); cursor: pointer }
.legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem }
.legend a, .legend > span { display: inline-flex; gap: .3rem; align-items: center; color: var(--ink) }
.fill.good { fill: var(--good) } .fill.bad { fill: var(--bad) } .fill.warn { fill: var(--warn) }
.fill.accent { fill: var(--accent) } .fill.busy { fill: var(--warn) }
.line.accent { stroke: var(--accent) } .line.busy, .line.warn { stroke: var(--warn) }
.line.good { stroke: var(--good) } .line.bad { stroke: var(--bad) }
.line.unfinished { opacity: .4 }
.gap { stroke: var(--paper) } .gap-fill { fill: var(--paper) }
.part { padding-left: .9rem }
.start { padding: .9rem 1.1rem; margin: .8rem 0; border: 1px solid var(--line); border-radius: 7px; background: var(--panel) }
.start h2 { margin-top: 0 }
.number { font-variant-numeric: tabular-nums }
.timeline { margin: .4rem 0; padding: 0 0 0 1.1rem; border-left: 2px solid var(--line); list-style: none }
.timeline li { position: relative; padding: .15rem 0 .45rem }
.timeline li::before {
  content: ''; position: absolute; left: -1.65rem; top: .32rem; width: .7rem; height: .7rem;
  border: 2px solid var(--accent); border-radius: 99px; background: var(--paper);
}
input, select, button, textarea { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--faint); border-radius: 5px; padding: .3rem .5rem }
input[type=checkbox] { width: 1.05rem; height: 1.05rem; vertical-align: -.2rem }
button { cursor: pointer; background: var(--panel); font-weight: 600 }
button:hover { border-color: var(--accent) }
.filters { display: flex; flex-wrap: wrap; gap: .6rem .45rem; align-items: end; margin: .5rem 0 1rem }
.filters input, .filters select, .filters button { height: 2rem }
.filters select { max-width: 12rem }
.filters:has(.invalid) { align-items: start }
.filters:has(.invalid) button { margin-top: 1.31rem }
.filters label { display: grid; gap: .15rem; font-size: .8rem; color: var(--faint) }
.filters small.invalid { max-width: 13rem; color: var(--bad); font-weight: 600 }
input[type=date] { min-height: 0; padding-block: .2rem }
.summary { display: flex; flex-wrap: wrap; gap: .2rem .7rem; margin: .6rem 0 }
.pager { display: flex; gap: 1.5rem; margin: .8rem 0 }
.actions { display: grid; gap: .5rem; margin: .5rem 0; max-width: 44rem }
.action { border: 1px solid var(--line); border-radius: 7px; background: var(--panel) }
.confirmation { max-width: 44rem; padding-top: .7rem }
[data-copy] { margin-right: .35rem }
.copy { padding: 0 .4rem; font-size: .78rem; font-weight: 400 }
.action summary { padding: .4rem .8rem; cursor: pointer; font-weight: 600 }
.action form { display: grid; grid-template-columns: minmax(0, 1fr); gap: .7rem; padding: .2rem .8rem .8rem }
.action p { margin: 0; color: var(--faint) }
.field { display: grid; grid-template-columns: minmax(0, 1fr); gap: .2rem }
.action label { font-weight: 600 }
.action label.flag, fieldset label { display: block; font-weight: 400 }
.action fieldset { border: 1px solid var(--line); border-radius: 5px; padding: .4rem .7rem }
.action small { font-size: .82rem; font-weight: 400; color: var(--faint) }
.action button { justify-self: start; background: var(--accent); border-color: var(--accent); color: var(--paper) }
td .action { min-width: 9rem }
td .action, td .ask { margin: -.2rem 0 }
td .action summary, td .ask button { padding-top: .15rem; padding-bottom: .15rem }
td .action[open] { max-width: 30rem; min-width: 16rem }
.action small.invalid { color: var(--bad); font-weight: 600 }
.action small.invalid::first-letter { text-transform: uppercase }
.action small.current { color: var(--ink); font-variant-numeric: tabular-nums }
[aria-invalid=true] { border-color: var(--bad); border-width: 2px }
.notice, .secret { margin: 0 0 1rem }
.notice { padding: .55rem .8rem; border: 1px solid var(--good); border-left-width: 4px; border-radius: 6px; background: var(--panel); overflow-wrap: anywhere }
.action p.wrong, .wrong { padding: .45rem .7rem; border: 1px solid var(--bad); border-left-width: 4px; border-radius: 6px; background: var(--paper); color: var(--ink) }
.secret { padding: .8rem 1rem; border: 2px solid var(--warn); border-radius: 7px; background: var(--panel) }
.secret code { display: block; margin: .4rem 0; padding: .5rem; font-size: .9rem }
footer { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; width: 100%; max-width: 84rem; margin: 0 auto; padding: .8rem 1.25rem; border-top: 1px solid var(--line); color: var(--faint) }
@media (max-width: 46rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  table, tbody { display: block }
  tr { display: block; padding: .45rem 0; border-bottom: 1px solid var(--line) }
  td { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); column-gap: .6rem; padding: .1rem 0; border: 0; text-align: left }
  td.number { padding-right: 0; text-align: left }
  td::before { content: attr(data-label); font-size: .8rem; color: var(--faint) }
  input:not([type=checkbox]), select { width: 100% }
  .filters { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 9rem), 1fr)) }
  .filters label, .filters button { width: 100%; min-width: 0 }
  .filters button { grid-column: 1 / -1 }
  .filters select { max-width: none }
  .chart text { font-size: 15px }
  .tiles, .cards { grid-template-columns: repeat(2, minmax(0, 1fr)) }
  .tiles { gap: .5rem }
  .tiles li:last-child:nth-child(odd) { grid-column: 1 / -1 }
  .tiles li, .cards li { padding: .55rem .7rem }
  .cards strong { font-size: 1.15rem }
  .compact tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .3rem .6rem }
  .compact td { display: block }
  .compact td:first-child { grid-column: 1 / -1 }
  .compact td:first-child::before { display: none }
  .compact td::before { display: block }
  .part { padding-left: 0 }
  td .action[open] { min-width: 0 }
  td .action, td .ask { margin: .1rem 0 }
  main, body > header, footer { padding-left: .9rem; padding-right: .9rem }
}
`
