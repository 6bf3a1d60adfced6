/**
 * Why a process can't listen at an address, with the variable that an operator may change; other errors as they are.
 *
 * @param prefix of the variables HOST and PORT that have the address
 */
export function listenError(
  error: unknown,
  { host, port }: { host: string; port: number },
  prefix: '' | 'METRICS_' = '',
): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  const hint = listenErrorHints[code]
  if (hint === undefined) return error
  return new Error(
    `Cannot listen on ${host}, port ${port} (${code}): ${hint.replace(/PORT|HOST/g, (name) => prefix + name)}`,
    { cause: error },
  )
}

const listenErrorHints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program does. Set PORT to another one; 0 takes a free one.',
  EACCES: 'this user may not. Set PORT to 1024 or above.',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one that it has.',
  ENOTFOUND: 'there is no such host. Set HOST to an address of this machine.',
}
