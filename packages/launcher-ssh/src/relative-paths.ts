/**
 * Relative paths in the client's settings. ssh resolves them against the working directory, which is the caller's
 * choice on a command line; in a configuration file they would name files of whoever owns that directory.
 */

/** Options of ssh that take a file; in those of the second pattern ssh knows no `~`, since a shell expands it. */
const FILE_OPTION = /^-[EFIiS](.*)$/u;
const PLAIN_OPTION = /^-[EFI]/u;

/** Settings of ssh_config(5) that hold a file, and those that hold a command. */
const FILE_KEYS: ReadonlySet<string> = new Set([
  'certificatefile', 'controlpath', 'globalknownhostsfile', 'identityagent', 'identityfile', 'include',
  'pkcs11provider', 'revokedhostkeys', 'securitykeyprovider', 'userknownhostsfile', 'xauthlocation',
]);
const COMMAND_KEYS: ReadonlySet<string> = new Set(['knownhostscommand', 'localcommand', 'proxycommand']);

/** Words that are no path, or one of a fixed place: absolute, of the home directory (`~`, `%d`), of a variable. */
const FIXED = /^"?(?:[/~$]|%d|none$|yes$|no$|ask$|auto$|SSH_AUTH_SOCK$)/u;

/** The first word of `client` and `options` with a path that depends on the working directory. */
export function findRelativePath(client: string, options: readonly string[]): string | undefined {
  if (client.includes('/') && !client.startsWith('/')) return client;
  return options.find((word, i) => isRelative(word, options[i + 1] ?? ''));
}

function isRelative(word: string, next: string): boolean {
  const file = FILE_OPTION.exec(word)?.[1];
  if (file !== undefined) {
    const path = file === '' ? next : file;
    return PLAIN_OPTION.test(word) ? !/^(?:\/|none$)/u.test(path) : !FIXED.test(path);
  }
  if (!word.startsWith('-o')) return false;
  const [, key = '', value = ''] = /^\s*(\w+)[\s=]+(.*)$/su.exec(word === '-o' ? next : word.slice(2)) ?? [];
  if (FILE_KEYS.has(key.toLowerCase())) return value.split(/\s+/u).some((path) => !FIXED.test(path));
  return COMMAND_KEYS.has(key.toLowerCase()) && /^(?:exec\s+)?[^\s/~%$]*\//u.test(value);
}
