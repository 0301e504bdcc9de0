/**
 * What completion knows of this machine: parameters, host files, ssh's files, sessions. Everything is bounded, and
 * whatever goes wrong is an empty answer: nobody reads an error at a TAB.
 */

import { closeSync, fstatSync, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseHostfile, THIS_MACHINE, type Registry } from '@stci/core';
import type { SessionStatus } from '@stci/core/session';
import type { JobId, Params, Platform } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { frontEndRegistry } from '../assembly/front-end-registry.js';
import { pluginPairs } from '../plugin/params.js';
import { allocateHosts, hostPlace } from '../run/allocate-hosts.js';
import { OPEN_FLAGS, readDescriptor } from '../files/read-file.js';
import { loadSettings } from '../settings/settings.js';
import { askRanks, askStatus } from '../session/ask.js';
import { connectSession } from '../session/connect.js';
import { jobName, parseJobName } from '../session/session-name.js';
import { SessionPlace } from '../session/session-place.js';
import { optionValues, type Sources } from './values.js';

const FILE_BYTES_MAX = 1 << 20;
/** All sessions are asked at once, for so long. */
const SESSION_MS = 400;
const SESSIONS_MAX = 8;

function quietly<T>(otherwise: T, call: () => T): T {
  try {
    return call();
  } catch {
    return otherwise;
  }
}

/** A regular file: what else has the name may let its reader wait. */
function readRegular(path: string): string {
  return quietly('', () => {
    const fd = openSync(path, OPEN_FLAGS);
    try {
      return fstatSync(fd).isFile() ? readDescriptor(fd, FILE_BYTES_MAX) : '';
    } finally {
      closeSync(fd);
    }
  });
}

export class MachineSources implements Sources {
  readonly variables = Object.keys(process.env).filter((name) => /^\w+$/u.test(name)).sort();
  readonly registry: Registry;
  readonly #platform: Platform = createNodePlatform();
  readonly #params: Params | undefined;

  private constructor(registry: Registry, params: Params | undefined) {
    this.registry = registry;
    this.#params = params;
  }

  /** With the components of plugins that files and the line name, of whose code nothing runs. */
  static async open(line: readonly string[]): Promise<MachineSources> {
    try {
      const wdir = quietly(undefined, () => process.cwd());
      const mca = quietly([], () => [...pluginPairs(optionValues(line, '--plugin'))]);
      const { registry, params } = await loadSettings({ mca, am: [] }, wdir, process.env as Record<string, string>);
      return new MachineSources(registry, params);
    } catch {
      return new MachineSources(frontEndRegistry(), undefined);
    }
  }

  hosts(hostfiles: readonly string[]): readonly string[] {
    const home = homedir();
    const wdir = quietly('/', () => process.cwd());
    const named = this.#param('option.hostfile').split(',');
    const files = [...hostfiles, ...named].filter((name) => name !== '' && name !== '-')
      .map((name) => resolve(wdir, name.replace(/^~(?=\/)/u, home)));
    const listed = files.flatMap((path) =>
      quietly([] as string[], () => parseHostfile(path, readRegular(path)).map(({ name }) => name)));
    return [...new Set([
      ...this.#ofBatchJob(),
      ...listed,
      ...configuredHosts(readRegular(join(home, '.ssh/config'))),
      ...knownHosts(readRegular(join(home, '.ssh/known_hosts'))),
    ])];
  }

  #ofBatchJob(): readonly string[] {
    const { registry } = this;
    const params = this.#params;
    if (params === undefined) return [];
    const found = quietly([], () => allocateHosts({}, hostPlace({ registry, params }, this.#platform, undefined)));
    return found.filter(({ origin }) => origin !== THIS_MACHINE).map(({ name }) => name);
  }

  sessions(): readonly string[] {
    return quietly([], () => [...this.#place().names()].sort());
  }

  async jobs(only: string | undefined): Promise<readonly string[]> {
    const all = await this.#statuses(only);
    const named = (name: string, job: JobId): string => (only === undefined ? jobName(name, job) : String(job));
    return all.flatMap(({ name, status }) =>
      status.jobs.filter(({ job }) => job !== 0).map(({ job }) => named(name, job)));
  }

  async sessionHosts(session: string | undefined): Promise<readonly string[]> {
    const all = await this.#statuses(session);
    return [...new Set(all.flatMap(({ status }) => status.hosts.map(({ spec }) => spec.name)))];
  }

  async ranks(name: string): Promise<readonly string[]> {
    const { session, job } = parseJobName(name);
    const entry = this.#place().list().find((one) => one.name === session);
    if (entry?.state !== 'running') return [];
    const client = connectSession(this.#place(), entry.facts, this.#connection());
    const ranks = await this.#within(askRanks(client, job), []);
    client.close();
    return ranks.filter(({ end }) => end === undefined).map(({ rank }) => String(rank));
  }

  async #statuses(only: string | undefined): Promise<{ readonly name: string; readonly status: SessionStatus }[]> {
    const entries = quietly([], () => [...this.#place().list()])
      .filter(({ name, state }) => state === 'running' && (only === undefined || name === only)).slice(0, SESSIONS_MAX);
    const asked = await Promise.all(entries.map(async (entry) => {
      if (entry.state !== 'running') return [];
      try {
        const client = connectSession(this.#place(), entry.facts, this.#connection());
        const status = await this.#within(askStatus(client), undefined);
        client.close();
        return status === undefined ? [] : [{ name: entry.name, status }];
      } catch {
        return [];
      }
    }));
    return asked.flat();
  }

  #connection(): { readonly platform: Platform; readonly params: Params } {
    return { platform: this.#platform, params: this.#loaded() };
  }

  #loaded(): Params {
    if (this.#params === undefined) throw new Error('no parameters');
    return this.#params;
  }

  #param(name: string): string {
    return quietly('', () => this.#loaded().string(name));
  }

  #place(): SessionPlace {
    return new SessionPlace(this.#param('session.directory'));
  }

  /** The answer, or what is given where none comes in time. */
  #within<T>(answer: Promise<T>, otherwise: T): Promise<T> {
    return new Promise((done) => {
      const timer = this.#platform.clock.after(SESSION_MS, () => done(otherwise));
      answer.then(done, () => done(otherwise)).finally(() => timer.cancel());
    });
  }
}

/** Names of `Host` lines, without patterns. */
export function configuredHosts(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const names = /^\s*host(?:\s*=\s*|\s+)(.*)$/iu.exec(line)?.[1] ?? '';
    return names.replace(/"/gu, '').split(/\s+/u).filter(isHostName);
  });
}

/** Names that are not hashed, without ports; revoked keys and authorities are no hosts. */
export function knownHosts(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [names = ''] = line.trim().split(/\s+/u);
    if (/^[#@|]/u.test(names)) return [];
    return names.split(',').map((name) => name.replace(/^\[(.*)\]:\d+$/u, '$1')).filter(isHostName);
  });
}

function isHostName(name: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name);
}
