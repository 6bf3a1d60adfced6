/** A request that was sent and has no response yet. */
type Sent = { readonly idempotencyKey: string }

/** The part of `localStorage` that is used. */
type Store = Pick<Storage, 'setItem' | 'removeItem' | 'getItem' | 'key' | 'length'>

/** Requests without a response, in a store that survives a reload, a crash and a closed tab. */
export type Unanswered<Input extends Sent> = {
  /** Stores a request before it is sent. */
  readonly keep: (input: Input) => void
  /** Removes a request after its response, a success or a rejection. */
  readonly forget: (input: Sent) => void
  /** The stored requests: send each again with its own key, and it is done once. */
  readonly all: () => Input[]
}

/**
 * Keeps requests without a response in a store such as `localStorage`.
 *
 * @param owner the user or customer that sends them: another one of the same browser does not see them
 */
export function createUnanswered<Input extends Sent>(store: Store, owner: string): Unanswered<Input> {
  const prefix = `unanswered:${owner}:`
  return {
    keep: (input) => store.setItem(prefix + input.idempotencyKey, JSON.stringify(input)),
    forget: ({ idempotencyKey }) => store.removeItem(prefix + idempotencyKey),
    all: () =>
      Array.from({ length: store.length }, (_, index) => store.key(index) ?? '')
        .filter((name) => name.startsWith(prefix))
        .map((name) => JSON.parse(store.getItem(name) ?? 'null')),
  }
}
