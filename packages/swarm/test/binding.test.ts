/** Ranks bound to processors in simulation: each host decides for itself, also for ranks that come from another. */

import { assert, suite } from '@stci/testkit';
import { runHosts, type HostsOptions } from '@stci/swarm';

const OPTIONS: HostsOptions = {
  seed: 1, hosts: 2, hostsMax: 2,
  settings: { 'bootcom.lease': '4s', 'launcher.session.method': 'process' },
  onWorld: (world) => {
    world.host('n0').system.set('/proc/self/status', 'Cpus_allowed_list:\t2-3\n');
    world.host('n1').system.set('/proc/self/status', 'Cpus_allowed_list:\t7\n');
  },
};
const BOUND = { errmgr: ['restart'], 'binding.to': 'core', 'binding.report': true };

suite('binding in simulation', (test) => {
  test('the rank of a lost host is bound anew on the one where it is started again', () => {
    const problems = runHosts(OPTIONS, (one) => {
      one.submit(['sleep', '3'], { params: BOUND }, ({ report, out }) => {
        assert.equal([report.exitCode, ...report.ranks.map(({ host }) => host)], [0, 'n0', 'n0']);
        assert.equal(out, [
          '[n0] rank 0 bound to socket 0[core 0[hwt 0]]: [B/.]\n',
          '[n1] rank 1 bound to socket 0[core 0[hwt 0]]: [B]\n[n0] rank 1 bound to socket 0[core 1[hwt 0]]: [./B]\n',
        ]);
        one.stop();
      });
      one.clock.after(1000, () => assert.ok(one.kill(1)));
    });
    assert.equal(problems, []);
  });

  test('a host with too few refuses its ranks, which ends the job', () => {
    const problems = runHosts(OPTIONS, (one) => {
      const mapBy = { by: 'ppr', perHost: 2 } as const;
      one.submit(['sleep', '3'], { mapBy, params: { ...BOUND, errmgr: ['abort'] } }, ({ report }) => {
        assert.equal([report.exitCode, report.cause?.code, report.cause?.host],
          [195, 'STCI_BINDING_IMPOSSIBLE', 'n1']);
        assert.equal(report.ranks.slice(2).map(({ outcome }) => outcome), ['failed-start', 'failed-start']);
        one.stop();
      });
    });
    assert.equal(problems, []);
  });
});
