/** The services of plugins in one job, at the controller: each is opened by the first message of a part at a host. */

import {
  StciError, sessionAddress, type ControllerService, type HostIndex, type Rank, type RankReport, type ServiceController,
  type SpawnDone, type SpawnRequest,
} from '@stci/interface';
import { check } from '../codec/shape.js';
import { endText } from '../job/exit-rule.js';
import { launchedSize } from '../job/spawn.js';
import { spawnRequest } from '../messages/job-shapes.js';
import type { JobAtController, JobHooks, ServiceScope } from './contracts.js';
import { Part } from './part.js';
import { serviceFramework } from './framework.js';

export class ControllerParts implements JobHooks {
  readonly #of: JobAtController;
  readonly #scope: ServiceScope;
  readonly #parts = new Map<string, ControllerPart>();

  constructor(of: JobAtController, scope: ServiceScope) {
    this.#of = of;
    this.#scope = scope;
  }

  /** Throws STCI_MESSAGE_INVALID for a service that the job does not have. */
  onMessage(name: string, host: HostIndex, body: unknown): void {
    (this.#parts.get(name) ?? this.#open(name)).service.onMessage?.(host, body);
  }

  onEnded(report: RankReport): void {
    for (const { service } of this.#parts.values()) service.onEnd?.(report.rank, failureOf(report));
  }

  onRestarting({ rank }: RankReport): void {
    for (const { service } of this.#parts.values()) service.onRestart?.(rank);
  }

  onHostLost(host: HostIndex): void {
    for (const { service } of this.#parts.values()) service.onHostLost?.(host);
  }

  #open(name: string): ControllerPart {
    const { ledger, params } = this.#of;
    const module = this.#scope.selected(serviceFramework, params).find((each) => each.name === name)?.create();
    if (module?.atController === undefined) {
      throw new StciError('STCI_MESSAGE_INVALID', `Expected a service of job ${this.#of.job}, got '${name}'`);
    }
    const part = new ControllerPart(this.#of, name);
    this.#parts.set(name, part);
    part.service = module.atController(part);
    for (let rank = 0; rank < ledger.map.size; rank++) {
      const report = ledger.rankReport(rank);
      if (report !== undefined) part.service.onEnd?.(rank, failureOf(report));
    }
    return part;
  }
}

class ControllerPart extends Part implements ServiceController {
  readonly #of: JobAtController;
  service: ControllerService = {};

  constructor(of: JobAtController, name: string) {
    super({ node: of.node, holds: of.holds, name, job: of.job, size: launchedSize(of.ledger.map, of.ledger.spawns) });
    this.#of = of;
  }

  get hosts(): readonly HostIndex[] {
    return this.#of.ledger.map.hosts.map(({ host }) => host);
  }

  hostOf(rank: Rank): HostIndex {
    return this.#of.ledger.placements.host(rank);
  }

  send(host: HostIndex, body: unknown): void {
    if (this.holds.isClosed) return;
    const told = { service: this.name, body };
    this.#of.front.check(this.node.messages.send(sessionAddress(host), 'service.told', told, this.job));
  }

  sendAll(body: unknown): void {
    if (this.holds.isClosed) return;
    this.#of.front.check(this.node.messages.sendSubtree('service.told', { service: this.name, body }, this.job));
  }

  spawn(request: SpawnRequest, done: SpawnDone): void {
    if (this.holds.isClosed) return done(undefined, 'the job is over');
    this.#of.spawn(check(spawnRequest, request, 'spawn'), done);
  }

  warn(text: string): void {
    this.#of.front.emit({ type: 'warning', text: `service ${this.name}: ${text}` });
  }
}

/** Why a rank did not end well. */
function failureOf(report: RankReport): string | undefined {
  return report.outcome === 'exited' && report.end?.status === 0 ? undefined : endText(report);
}
