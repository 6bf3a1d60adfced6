/** What `react-relay` exports under this name: relay-compiler reads the text, and nothing here runs it. */
export const graphql = ([document]: TemplateStringsArray): string => document ?? ''
