/** Stands for `graphql` of `react-relay`: relay-compiler reads the text, and no test runs it. */
export const graphql = ([document]: TemplateStringsArray): string => document ?? ''
