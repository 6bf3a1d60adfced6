/** The key `/` focuses the search. Elements with `data-copy` get a copy button. Pages also work without this script. */
export const consoleScript = `
const search = document.querySelector('input[type=search]')
const isTyping = ({ target }) => target.matches('input, select, textarea, [contenteditable]')
document.addEventListener('keydown', (event) => {
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing
  if (event.key !== '/' || !isPlain || isTyping(event) || !search) return
  event.preventDefault()
  search.focus()
  search.select()
})
if (navigator.clipboard) {
  for (const element of document.querySelectorAll('[data-copy]')) {
    const button = document.createElement('button')
    const setLabel = (text) => { button.textContent = text }
    button.type = 'button'
    button.className = 'copy'
    button.setAttribute('aria-label', 'Copy ' + element.dataset.copy)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(element.textContent)
      setLabel('Copied')
      setTimeout(setLabel, 2000, 'Copy')
    })
    setLabel('Copy')
    element.after(button)
  }
}
`

export const consoleScriptPath = '/console.js'
