/** Is a text an IPv6 address: eight groups, `::` once, a dotted IPv4 tail, a `%zone`. */

/** True for `::1`, `fe80::1%eth0`, `::ffff:10.0.0.1`; false for host names and for `[::1]` with its brackets. */
export function isIpv6(text: string): boolean {
  const [address = '', ...zones] = text.split('%');
  if (zones.length > 1 || (zones.length === 1 && !/^[A-Za-z0-9._-]+$/.test(zones[0]!))) return false;
  const halves = address.split('::');
  if (halves.length > 2) return false;
  const counts = halves.map((half, i) => groupsOf(half, i === halves.length - 1));
  const groups = counts.reduce((sum, count) => sum + count, 0);
  return halves.length === 2 ? groups <= 7 : groups === 8;
}

/** 16-bit groups of one side of a `::`; Infinity (or NaN) where it is none. */
function groupsOf(half: string, last: boolean): number {
  if (half === '') return 0;
  const groups = half.split(':');
  const tail = last && isIpv4(groups.at(-1)!) ? 1 : 0;
  const plain = groups.slice(0, groups.length - tail);
  return plain.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) ? groups.length + tail : Infinity;
}

function isIpv4(text: string): boolean {
  const bytes = text.split('.');
  return bytes.length === 4 && bytes.every((byte) => /^(0|[1-9][0-9]{0,2})$/.test(byte) && Number(byte) <= 255);
}
