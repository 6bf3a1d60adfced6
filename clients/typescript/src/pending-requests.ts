/** A request that was sent and has no response yet. */
type PendingRequest = { readonly idempotencyKey: string }

/** The part of `localStorage` that this module uses. */
type Store = Pick<Storage, 'setItem' | 'removeItem' | 'getItem' | 'key' | 'length'>

/** Requests without a response, in a store that survives a reload, a crash and a closed tab. */
export type PendingRequests<Input extends PendingRequest> = {
  /** Stores a request before it is sent. */
  readonly add: (input: Input) => void
  /** Removes a request after its response, a success or a rejection. */
  readonly remove: (input: PendingRequest) => void
  /** Lists the stored requests. Send each again with its own key: the service executes it only once. */
  readonly list: () => Input[]
}

/**
 * Keeps requests without a response in a store such as `localStorage`.
 *
 * @param owner the user or customer that sends the requests; other users of the same browser do not see them
 */
export function createPendingRequests<Input extends PendingRequest>(
  store: Store,
  owner: string,
): PendingRequests<Input> {
  const prefix = `pending-request:${owner}:`
  return {
    add: (input) => store.setItem(prefix + input.idempotencyKey, JSON.stringify(input)),
    remove: ({ idempotencyKey }) => store.removeItem(prefix + idempotencyKey),
    list: () =>
      Array.from({ length: store.length }, (_, index) => store.key(index) ?? '')
        .filter((name) => name.startsWith(prefix))
        .map((name) => JSON.parse(store.getItem(name) ?? 'null')),
  }
}
