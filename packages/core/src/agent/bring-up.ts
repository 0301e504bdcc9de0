/**
 * Bring-up: from an allocation to agents on all its hosts, the bootstrapping of the whole (STCI paper, III-B). Every
 * failure goes to the bootstrap policy; what it decides is done by whoever starts the host in the boot tree. It is over
 * when every host is up or left out, or when the policy has ended it; then all failures that can be found have been
 * awaited for a while, so that the user learns of them in one go.
 */

import {
  addressIndex,
  bootHost,
  bootPosition,
  rootAddress,
  toErrorRecord,
  type BootstrapPolicy,
  type ErrorRecord,
  type HostIndex,
  type HostSpec,
  type JobEvent,
  type StciError,
  type Timer,
  type TreeTopology,
  type Address,
} from '@stci/interface';
import { BootSubtree, type HostLogin } from './boot-subtree.js';
import type { AgentNode } from './node.js';
import type { Starter } from './starter.js';
import type { ParamSnapshot } from './universe.js';

export interface BringUpInit {
  readonly node: AgentNode;
  readonly starter: Starter;
  readonly tree: TreeTopology;
  readonly policy: BootstrapPolicy;
  readonly hosts: readonly HostSpec[];
  readonly spares: readonly HostSpec[];
  readonly snapshot: ParamSnapshot;
}

export interface BringUpEvents {
  tell(event: JobEvent): void;
  /** All hosts that are wanted are up. `hosts` as they are now; `leftOut` did not come up and is not waited for. */
  onReady(hosts: readonly HostSpec[], leftOut: ReadonlySet<HostIndex>): void;
  /** The policy has ended it: every failure found, the first one first. */
  onAborted(failures: readonly BringUpFailure[]): void;
  /** Once ready: an agent that was up is gone. */
  onLost(agent: Address, error: StciError): void;
}

export interface BringUpFailure {
  readonly host: HostIndex;
  readonly error: ErrorRecord;
}

type HostState = 'pending' | 'up' | 'failed' | 'left-out';

export class BringUp {
  readonly #init: BringUpInit;
  readonly #events: BringUpEvents;
  readonly #below: BootSubtree;
  readonly #hosts: HostSpec[];
  readonly #spares: HostSpec[];
  readonly #states: HostState[];
  readonly #attempts: number[];
  readonly #failures: BringUpFailure[] = [];
  #upCount = 0;
  #leftOutCount = 0;
  #phase: 'starting' | 'aborting' | 'ready' | 'over' = 'starting';
  #timer: Timer | undefined;

  constructor(init: BringUpInit, events: BringUpEvents) {
    this.#init = init;
    this.#events = events;
    this.#hosts = [...init.hosts];
    this.#spares = [...init.spares];
    this.#states = init.hosts.map(() => 'pending');
    this.#attempts = init.hosts.map(() => 1);
    const { node, starter, tree, snapshot } = init;
    this.#below = new BootSubtree(
      {
        node,
        starter,
        tree,
        position: 0,
        logins: new Map(init.hosts.map((host, i) => [bootPosition(i), login(host)])),
        common: { hosts: init.hosts.length, arity: tree.arity, params: snapshot },
      },
      {
        onUp: () => undefined,
        onFailed: (agent, error) => this.onFailed(agent, error),
        onLost: (agent, error) => this.onFailed(agent, error),
      },
    );
  }

  get below(): BootSubtree {
    return this.#below;
  }

  /** Names of the hosts that are neither up nor left out. */
  get missing(): readonly string[] {
    const isMissing = (state: HostState | undefined): boolean => state === 'pending' || state === 'failed';
    return this.#hosts.filter((_, host) => isMissing(this.#states[host])).map(({ name }) => name);
  }

  start(): void {
    this.#init.starter.ready((error) => {
      if (error === undefined) this.#below.start();
      else this.#events.onAborted([{ host: 0, error: toErrorRecord(error) }]);
    });
  }

  /** The root agent of `host` runs. */
  onUp(host: HostIndex): void {
    if (this.#phase !== 'starting' || this.#states[host] !== 'pending') return;
    this.#states[host] = 'up';
    this.#upCount += 1;
    const { name } = this.#hosts[host] as HostSpec;
    this.#events.tell({ type: 'host-up', host, name, up: this.#upCount, total: this.#hosts.length });
    this.#check();
  }

  /** A root agent did not come up, or was up and is gone; told by its starter. */
  onFailed(agent: Address, error: StciError): void {
    if (this.#phase === 'over') return;
    if (this.#phase === 'ready') return this.#events.onLost(agent, error);
    const host = addressIndex(agent);
    if (this.#states[host] !== 'pending' && this.#states[host] !== 'up') return;
    // Whoever it had started is cut off and ends; all of them are to come up anew.
    for (const below of this.#below.hostsBelow(host)) this.#forget(below);
    const record = toErrorRecord(error);
    this.#states[host] = 'failed';
    this.#failures.push({ host, error: record });
    this.#events.tell({ type: 'failure', error: record });
    if (this.#phase === 'aborting') return this.#check();
    this.#decide(host, record);
  }

  /** Ends it; nothing is told any more. */
  stop(done: () => void): void {
    this.#phase = 'over';
    this.#timer?.cancel();
    this.#below.stop('the session ends', () => {
      this.#init.starter.close();
      done();
    });
  }

  /** Takes part in nothing any more, for the job is being ended. */
  abandon(): void {
    this.#timer?.cancel();
    if (this.#phase !== 'over') this.#phase = 'ready';
  }

  #forget(host: HostIndex): void {
    if (this.#states[host] !== 'up') return;
    this.#states[host] = 'pending';
    this.#upCount -= 1;
  }

  #decide(host: HostIndex, error: ErrorRecord): void {
    const spec = this.#hosts[host] as HostSpec;
    const hostsLeft = this.#states.filter((state) => state === 'up' || state === 'pending').length;
    const decision = this.#init.policy.decide(
      { host: spec, error, attempts: this.#attempts[host] as number },
      { hostsLeft, sparesLeft: this.#spares.length },
    );
    if (decision === 'abort') return this.#abort();
    const spare = decision === 'spare' ? this.#spares.shift() : undefined;
    if (decision === 'spare' && spare === undefined) return this.#abort();
    if (decision === 'shrink' && hostsLeft === 0) return this.#abort();
    this.#events.tell({
      type: 'bootstrap',
      host,
      name: spec.name,
      decision,
      ...(spare !== undefined && { spare: spare.name }),
    });
    if (decision === 'shrink') this.#leaveOut(host);
    else this.#again(host, spare ?? spec);
  }

  #again(host: HostIndex, spec: HostSpec): void {
    this.#hosts[host] = spec;
    this.#states[host] = 'pending';
    this.#attempts[host] = (this.#attempts[host] as number) + 1;
    const starter = this.#starterOf(host);
    const [name, user] = login(spec);
    if (starter === undefined) this.#below.again(host, [name, user]);
    else this.#init.node.messages.send(rootAddress(starter), 'launch.again', { host, name, user });
  }

  #leaveOut(host: HostIndex): void {
    const starter = this.#starterOf(host);
    this.#states[host] = 'left-out';
    this.#leftOutCount += 1;
    if (starter === undefined) this.#below.adopt(host);
    else this.#init.node.messages.send(rootAddress(starter), 'launch.adopt', { host });
    this.#check();
  }

  /** Whoever starts `host`: the nearest host above it that is not left out; undefined: this agent. */
  #starterOf(host: HostIndex): HostIndex | undefined {
    const { tree } = this.#init;
    let parent = tree.parent(bootPosition(host)) as number;
    while (parent > 0 && this.#states[bootHost(parent)] === 'left-out') parent = tree.parent(parent) as number;
    return parent === 0 ? undefined : bootHost(parent);
  }

  /** Further failures may be on their way: they are awaited, and told together. */
  #abort(): void {
    this.#phase = 'aborting';
    const collectMs = this.#init.node.params.int('bootstrap.collect');
    this.#timer = this.#init.node.platform.clock.after(collectMs, () => this.#aborted());
    this.#check();
  }

  #aborted(): void {
    this.#timer?.cancel();
    this.#phase = 'ready';
    this.#events.onAborted(this.#failures);
  }

  #check(): void {
    if (this.#phase === 'aborting') {
      // Those below a host that failed will not come up: nothing is to be learnt of them.
      if (!this.#states.some((state, host) => state === 'pending' && !this.#isBelowFailed(host))) this.#aborted();
    } else if (this.#phase === 'starting') {
      if (this.#upCount + this.#leftOutCount < this.#hosts.length) return;
      this.#phase = 'ready';
      const leftOut = new Set(this.#hosts.keys());
      for (const host of this.#hosts.keys()) if (this.#states[host] === 'up') leftOut.delete(host);
      this.#events.onReady(this.#hosts, leftOut);
    }
  }

  #isBelowFailed(host: HostIndex): boolean {
    const { tree } = this.#init;
    let at = tree.parent(bootPosition(host));
    while (at !== undefined && at > 0) {
      if (this.#states[bootHost(at)] === 'failed') return true;
      at = tree.parent(at);
    }
    return false;
  }
}

function login(host: HostSpec): HostLogin {
  return [host.name, host.user ?? ''];
}
