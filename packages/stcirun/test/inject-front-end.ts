/**
 * A front-end that injects faults into a session, for tests that kill it: `SESSION TERMS`. Lines of JSON on standard
 * input are orders, or `{ "undo": ID }`; what it is told goes to standard output, a line each.
 */

import { createInterface } from 'node:readline';
import type { ExperimentTerms, FaultOrder } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { SessionPlace, frontEndRegistry, type FoundSession } from '@stci/stcirun/internal';
import { resolveParams } from '@stci/core';
import { connectSession } from '../dist/session/connect.js';

const [name, terms] = process.argv.slice(2) as [string, string];
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const place = new SessionPlace(process.env['STCI_MCA_session_directory']);
const found = place.list().find((entry) => entry.name === name && entry.state === 'running') as
  { readonly facts: FoundSession };
const { params } = resolveParams(frontEndRegistry().catalog, {});
const { experiment } = connectSession(place, found.facts, { platform: createNodePlatform(), params });
experiment.onReport = say;
experiment.open(JSON.parse(terms) as ExperimentTerms, (error) => say({ begun: error === undefined, ...error }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const order = JSON.parse(line) as FaultOrder | { readonly undo: string };
  if ('undo' in order) experiment.undo(order.undo, (error, left) => say({ undone: order.undo, left, ...error }));
  else experiment.inject(order);
});
