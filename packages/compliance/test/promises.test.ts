/** Each promise that a suite names is one of the contract's docstring, with the same text, and none is missing. */

import { readFileSync } from 'node:fs';
import { DETECTOR, ERRMGR, FAULT, LAUNCHER, LAUNCHERPROC, NOTIFIER, SERVICE, TOPOLOGY } from '@stci/compliance';
import { assert, suite } from '@stci/testkit';

/** File, and whose docstring has them. */
const CONTRACTS = [
  ['detector', 'DetectorModule', DETECTOR],
  ['errmgr', 'ErrorManager', ERRMGR],
  ['fault', 'FaultModule', FAULT],
  ['launcher', 'Launcher', LAUNCHER],
  ['launcher', 'LauncherProc', LAUNCHERPROC],
  ['notifier', 'NotifierModule', NOTIFIER],
  ['service', 'ServiceModule', SERVICE],
  ['topology', 'Topology', TOPOLOGY],
] as const;

suite('promises', (test) => {
  for (const [file, type, { framework, promises }] of CONTRACTS) {
    test(`of ${framework} are those of ${type}`, () => {
      const text = readFileSync(new URL(`../../interface/src/${file}.ts`, import.meta.url), 'utf8');
      const before = text.slice(0, text.indexOf(`export interface ${type} {`));
      const docstring = before.slice(before.lastIndexOf('/**'));
      const said = [...docstring.matchAll(/^ \* - `(\w+)`: (.*)$/gmu)].map(([, name, what]) => [name, what]);
      assert.equal(said, Object.entries(promises));
    });
  }
});
