/** Each promise that a suite names is one of the contract's docstring, with the same text, and none is missing. */

import { readFileSync } from 'node:fs';
import { ERRMGR, FAULT, LAUNCHER, TOPOLOGY } from '@stci/compliance';
import { assert, suite } from '@stci/testkit';

const CONTRACTS = { errmgr: ERRMGR, fault: FAULT, launcher: LAUNCHER, topology: TOPOLOGY } as const;

suite('promises', (test) => {
  for (const [file, { promises }] of Object.entries(CONTRACTS)) {
    test(`of ${file} are those of its contract`, () => {
      const text = readFileSync(new URL(`../../interface/src/${file}.ts`, import.meta.url), 'utf8');
      const said = [...text.matchAll(/^ \* - `(\w+)`: (.*)$/gmu)].map(([, name, what]) => [name, what]);
      assert.equal(said, Object.entries(promises));
    });
  }
});
