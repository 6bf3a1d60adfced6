/** A coin on its way, in one colour that shows on light and on dark. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#4f7df0" stroke-width="3.2" \
stroke-linecap="round" stroke-linejoin="round"><circle cx="12.5" cy="16" r="9.5"/><path d="M9 16h20m-6-6 6 6-6 6"/></svg>
`
