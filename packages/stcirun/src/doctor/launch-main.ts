/**
 * The process in which `stci doctor` starts agents, started by check-launches.ts: not bundled, as the library finds the
 * agent's files beside itself. Its input is a LaunchesToCheck as JSON; it tells a LaunchesFound.
 */

import { readFileSync, writeSync } from 'node:fs';
import { toErrorRecord, type StciError } from '@stci/interface';
import { TOLD_FD } from '../plugin/check/run-script.js';
import { checkLaunch } from './check-launch.js';
import type { LaunchesFound, LaunchesToCheck } from './check-launches.js';
import { inWindow } from './window.js';

const { hosts, options, deadlineMs } = JSON.parse(readFileSync(0, 'utf8')) as LaunchesToCheck;

function end(found: LaunchesFound): void {
  const bytes = Buffer.from(JSON.stringify(found));
  for (let at = 0; at < bytes.length;) at += writeSync(TOLD_FD, bytes, at);
  process.exit(0);
}

inWindow(hosts, (host) => checkLaunch(host, options, deadlineMs)).then(
  (reports) => end({ reports }), (thrown: StciError) => end({ error: toErrorRecord(thrown) }));
