/** The order of the ring: what is written, and cabinets that are spread. */

import { detectorRing, orderRing, parseOrder, spreadCabinets } from '@stci/detector-ring';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { detectorModule } from '@stci/testkit/compliance';

suite('ring order', (test) => {
  test('as it is written', () => {
    assert.equal(parseOrder('rank'), { type: 'rank' });
    assert.equal(parseOrder('hosts:2,0,1'), { type: 'hosts', hosts: [2, 0, 1] });
    assert.equal(parseOrder('file:cabinets.txt'), { type: 'file' });
    assert.equal(parseOrder('cabinets:7*2,3'), { type: 'cabinets', cabinets: [7, 7, 3] });
    for (const bad of ['', 'file:', 'random', 'hosts:', 'hosts:1,1', 'hosts:1*2', 'cabinets:a', 'cabinets:0*9999999']) {
      assert.is(parseOrder(bad), undefined, bad);
    }
  });

  test('the controller comes first, hosts that are not listed last', () => {
    assert.equal(orderRing({ type: 'rank' }, [3, 0, 2]), [0, 2, 3]);
    assert.equal(orderRing({ type: 'hosts', hosts: [4, 2, 0, 9] }, [0, 1, 2, 3, 4, 5]), [0, 5, 3, 1, 2, 4]);
    assert.equal(orderRing({ type: 'cabinets', cabinets: [0, 0, 1, 1] }, [0, 1, 2, 3, 4, 5]), [0, 1, 3, 2, 4, 5]);
  });

  test('neighbours share no cabinet wherever that is possible', () => {
    const below = seededIntegers(7);
    for (let round = 0; round < 3000; round++) {
      const size = 1 + below(12);
      const cabinets = Array.from({ length: size }, () => below(1 + below(5)));
      const order = spreadCabinets(cabinets);
      assert.equal([...order].sort((a, b) => a - b), cabinets.map((_, i) => i), 'each once');
      const largest = Math.max(...cabinets.map((one) => cabinets.filter((other) => other === one).length));
      if (2 * largest > size) continue;
      const sharing = order.filter((at, i) => cabinets[at] === cabinets[order[(i + 1) % size]!]);
      assert.equal(sharing, [], `cabinets ${cabinets.join(' ')}, order ${order.join(' ')}`);
    }
  });

  test('a bad order, and a timeout that is too short, are refused with what was expected', () => {
    const refused = (params: Record<string, string>): string => {
      return assert.throwsCode('STCI_PARAM_INVALID', () => detectorModule(detectorRing, params)).message;
    };
    const { problemFor } = detectorModule(detectorRing, { order: 'hosts:3,1' });
    assert.is(problemFor?.(3), "detector.ring.order = 'hosts:3,1': there is no host 3. Hosts are numbered from 0 as "
      + 'they are allocated: expected 0 to 2');
    assert.is(problemFor?.(4), undefined);
    assert.is(detectorModule(detectorRing, { order: 'cabinets:0*9' }).problemFor?.(3), undefined);
    assert.match(refused({ order: 'random' }), "detector.ring.order = 'random' is no order. Expected rank, hosts:");
    assert.match(refused({ period: '2s', timeout: '2s' }), 'detector.ring.timeout = 2000 ms is not longer than');
  });
});
