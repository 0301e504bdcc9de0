/** Hosts that are looked at so many at a time. */

/** A login, or the start of an agent, costs a tenth of a second of this machine's processor. */
export const WINDOW = 32;

/** Results in the order of the hosts. */
export async function inWindow<Host, Result>(
  hosts: readonly Host[], check: (host: Host) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < hosts.length; i = next++) results[i] = await check(hosts[i] as Host);
  };
  await Promise.all(Array.from({ length: Math.min(WINDOW, hosts.length) }, work));
  return results;
}
