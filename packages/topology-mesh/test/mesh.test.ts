/** The mesh: compliance of its forms, dimensions, refusals. */
// @timeoutMs 300000

import { assert, suite } from '@stci/testkit';
import { topologyCompliance } from '@stci/testkit/compliance';
import { createMesh, nearCubic, topologyMesh } from '@stci/topology-mesh';

type Dimensions = (size: number) => readonly number[];

const line: Dimensions = (size) => [size];
const flat: Dimensions = (size) => {
  const [a, b, c] = nearCubic(size);
  return [a, b * c];
};
const form = (label: string, dimensions: Dimensions, wrap: boolean, degree: number) => ({
  label, options: (size: number) => ({ dimensions: dimensions(size), wrap }), degreeMax: () => degree,
  avoidsDead: true, ...(degree === 2 && { largeSizes: [1_000] }),
});

topologyCompliance(topologyMesh, [
  { label: 'by default', degreeMax: () => 6, avoidsDead: true },
  form('line', line, false, 2),
  form('ring', line, true, 2),
  form('2-D', flat, false, 4),
  form('2-D wrapped', flat, true, 4),
  form('3-D', nearCubic, false, 6),
  form('3-D wrapped', nearCubic, true, 6),
]);

suite('topology mesh', (test) => {
  test('default dimensions are near-cubic', () => {
    assert.equal([1, 8, 12, 13, 24, 1000].map(nearCubic),
      [[1, 1, 1], [2, 2, 2], [3, 2, 2], [13, 1, 1], [4, 3, 2], [10, 10, 10]]);
    for (let size = 1; size <= 300; size++) assert.is(nearCubic(size).reduce((a, b) => a * b), size);
  });

  test('corrects one dimension after another, the shorter way round', () => {
    const torus = createMesh([4, 4], true);
    assert.equal([torus.nextHop(0, 13), torus.nextHop(12, 13), torus.nextHop(0, 8), torus.diameter], [12, 13, 4, 4]);
    assert.equal(createMesh([4, 4], false).nextHop(0, 13), 4);
  });

  test('bad requests are refused with option, expectation and value', () => {
    const make = (options: Record<string, unknown>): unknown =>
      topologyMesh.create({}, { wrap: false }, { kind: 'mesh', size: 12, options });
    const cases: [Record<string, unknown>, string][] = [
      [{ dimensions: [3, 3] }, 'a product of 12'],
      [{ dimensions: [3, 2, 2, 1] }, 'a list of 1 to 3 integers'],
      [{ dimensions: [12, 0] }, 'an integer in 1..'],
      [{ dimensions: 12 }, 'got 12'],
      [{ wrap: 'yes' }, 'option wrap: expected true or false, got "yes"'],
      [{ rap: true }, 'unknown option: expected one of dimensions, wrap'],
    ];
    for (const [options, words] of cases) {
      assert.match(assert.throwsCode('STCI_TOPOLOGY_INVALID', () => make(options)).message, words);
    }
    assert.equal((make({ dimensions: [6, 2], wrap: true }) as { diameter: number }).diameter, 4);
    assert.equal((make({ dimensions: 1, wrap: true }) as { diameter: number }).diameter, 6, 'a ring of any size');
    assert.equal((make({ dimensions: 3 }) as { diameter: number }).diameter, 4);
  });
});
