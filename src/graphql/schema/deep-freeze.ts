/** The same value, of which nobody can change anything any more: for what is made once and serves every request. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
