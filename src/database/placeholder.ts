/** Stands for the parameter `name` while a query is built; `isList` when it stands for the right side of `in`. */
export type Placeholder = { readonly placeholder: string; readonly isList: boolean }

/** Stands for one value. */
export function placeholder(name: string): Placeholder {
  return { placeholder: name, isList: false }
}

/** Whether something in a query's tree is bound when it runs. */
export function isPlaceholder(value: unknown): value is Placeholder {
  return typeof value === 'object' && value !== null && 'placeholder' in value
}
