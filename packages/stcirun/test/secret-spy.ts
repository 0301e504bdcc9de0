/** Tests that look for secrets: what a process of Node reads of the system's random source, and where that is seen. */

import { readdirSync, readFileSync } from 'node:fs';

export const SECRET_BYTES = 32;

/** Writes what is read of the system's random source to a file, where it is as long as a secret. */
export const SPY = (file: string): string => `
  const fs = require('node:fs');
  const { appendFileSync, openSync, readSync } = fs;
  const sources = new Set();
  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    if (path === '/dev/urandom') sources.add(fd);
    else sources.delete(fd);
    return fd;
  };
  fs.readSync = (fd, bytes, ...rest) => {
    const count = readSync(fd, bytes, ...rest);
    if (!sources.has(fd) || bytes.length !== ${SECRET_BYTES}) return count;
    appendFileSync(${JSON.stringify(file)}, Buffer.from(bytes).toString('hex') + '\\n');
    return count;
  };
`;

/** What bytes look like in text, wherever in a longer piece they begin. */
export function looks(bytes: Uint8Array): Buffer[] {
  const hex = Buffer.from(bytes).toString('hex');
  const base64 = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64').slice(shift === 0 ? 0 : 4, 40);
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const list = Array.from(bytes).join(',');
  return [Buffer.from(bytes), ...[hex, hex.toUpperCase(), ...base64, list].map((text) => Buffer.from(text, 'latin1'))];
}

export function show(needles: readonly Buffer[], where: string, bytes: Buffer): string[] {
  return needles.some((needle) => bytes.includes(needle)) ? [where] : [];
}

/** Where in /proc a needle is, and how many processes were looked at. */
export function searchProcesses(needles: readonly Buffer[]): { found: string[]; count: number } {
  const found: string[] = [];
  let count = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      for (const what of ['cmdline', 'environ']) {
        found.push(...show(needles, `${pid} ${what}`, readFileSync(`/proc/${pid}/${what}`)));
      }
      count += 1;
    } catch {
      // It has ended, or is somebody else's.
    }
  }
  return { found, count };
}
