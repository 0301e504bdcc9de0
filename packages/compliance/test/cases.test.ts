/** What is passed to a suite is checked: names, kinds, labels, and the component. */

import {
  collectTests, detectorCompliance, errmgrCompliance, faultCompliance, launcherCompliance, notifierCompliance,
  serviceCompliance, topologyCompliance, type NotifierComponent,
} from '@stci/compliance';
import { launcherProcSuites } from '@stci/compliance/launcherproc';
import { assert, suite } from '@stci/testkit';
import { templateOf } from './templates.js';

type Suite = (component: unknown, cases?: unknown) => void;

const SUITES: Readonly<Record<string, Suite>> = {
  topology: topologyCompliance as Suite, launcher: launcherCompliance as Suite, detector: detectorCompliance as Suite,
  notifier: notifierCompliance as Suite, errmgr: errmgrCompliance as Suite, fault: faultCompliance as Suite,
  service: serviceCompliance as Suite, launcherproc: launcherProcSuites as Suite,
};

/** Framework, what is passed, what is said. */
const WRONG: readonly (readonly [string, unknown, string])[] = [
  ['topology', [{ label: 'x', avoidDead: true }],
    'topologyCompliance: cases[0] ("x"): there is no field avoidDead. Did you mean avoidsDead? Its fields: label, '
    + 'options, degreeMax, avoidsDead, largeSizes'],
  ['topology', [{ label: 'x' }], 'cases[0] ("x"): avoidsDead is missing: expected true or false'],
  ['topology', [{ label: 'x', avoidsDead: true, degreeMax: 2 }], 'degreeMax: expected a function, got 2'],
  ['topology', undefined, 'cases: expected a list of at least one, got undefined'],
  ['topology', [], 'cases: expected a list of at least one, got a list of 0'],
  ['launcher', [{ lable: 'x' }], 'launcherCompliance: cases[0]: there is no field lable. Did you mean label?'],
  ['launcher', [{ label: 'x', params: { group: 3 } }],
    'params: expected an object of texts, as a user sets parameters, got an object'],
  ['detector', [{ label: 'x', grace: 5 }], 'detectorCompliance: cases[0] ("x"): there is no field grace.'],
  ['detector', [{ label: 'x' }, { label: 'x' }], 'cases[1] ("x"): another case has this label'],
  ['notifier', { seed: 5 }, 'notifierCompliance: options: there is no field seed. Did you mean seeds?'],
  ['errmgr', ['default'], 'errmgrCompliance: cases[0]: expected an object, got "default"'],
  ['fault', [{ label: 'x', params: {} }], 'faultCompliance: cases[0] ("x"): there is no field params.'],
  ['service', [{ label: 'x', ranks: 3 }], 'serviceCompliance: cases[0] ("x"): there is no field ranks.'],
  ['launcherproc', [{ label: 'x', simulated: true }], 'launcherProcSuites: cases[0] ("x"): simulated: expected false'],
];

suite('what is passed to a suite', (test) => {
  for (const [framework, cases, says] of WRONG) {
    test(says, async () => {
      const component = await templateOf(framework);
      assert.throws(() => collectTests(() => SUITES[framework]?.(component, cases)), (thrown) => {
        assert.ok(thrown instanceof TypeError);
        assert.match(thrown.message, says);
        return true;
      });
    });
  }

  test('a component of another framework, or none', async () => {
    const notifier = await templateOf<NotifierComponent>('notifier');
    const define = (component: unknown) => () => collectTests(() => SUITES['topology']?.(component, []));
    const expected = 'topologyCompliance: expected a component of framework topology, got ';
    assert.throws(define(notifier), `${expected}one of framework notifier`);
    assert.throws(define(undefined), `${expected}undefined; does its module export it by this name?`);
  });
});
