/**
 * All that pages run but GraphiQL: a button that copies, for each figure that holds what one would copy.
 *
 * The button is made here, so there is none where no script runs, nor where a browser keeps its clipboard to itself, as
 * over plain HTTP from another machine.
 */
export const pageScript = `
if (navigator.clipboard) {
  for (const figure of document.querySelectorAll('figure')) {
    const caption = figure.querySelector('figcaption')
    const button = document.createElement('button')
    const says = (text) => { button.textContent = text }
    button.type = 'button'
    button.className = 'copy'
    button.setAttribute('aria-label', 'Copy: ' + caption.textContent)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('pre').textContent)
      says('Copied')
      setTimeout(says, 2000, 'Copy')
    })
    says('Copy')
    caption.append(button)
  }
}
`
