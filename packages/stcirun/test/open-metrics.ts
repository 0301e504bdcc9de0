/** A parser of OpenMetrics text, as strict as the specification for counters and histograms. */

import { assert } from '@stci/testkit';

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly unit?: string;
  /** By name and labels, as they stand. */
  readonly samples: Map<string, number>;
}

const SAMPLE = /^(?<name>[a-z_]+)(?:\{(?<labels>[^}]*)\})? (?<value>[0-9.e+-]+)$/u;
const LABELS = /^(?:[a-z_]+="(?:[^"\\]|\\[\\n"])*"(?:,(?!$)|$))*$/u;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'], histogram: ['_bucket', '_sum', '_count'],
};

export function parseOpenMetrics(text: string): Map<string, Family> {
  assert.ok(text.endsWith('\n# EOF\n') || text === '# EOF\n', 'it ends with EOF');
  const families = new Map<string, Family>();
  let last = '';
  for (const line of text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE|UNIT) ([a-z_]+) (.*)$/u.exec(line) ?? [];
    if (word === 'HELP') {
      assert.not.ok(families.has(name), `${name} comes once`);
      families.set(name, { type: '', help: rest, samples: new Map() });
      last = name;
    } else if (word === 'TYPE') {
      assert.is(name, last, 'the type follows its help');
      families.set(name, { ...families.get(name)!, type: rest });
    } else if (word === 'UNIT') {
      assert.ok(name === last && families.get(name)?.samples.size === 0, 'the unit follows the type');
      assert.ok(name.endsWith(`_${rest}`), `${name} ends with its unit, ${rest}`);
      families.set(name, { ...families.get(name)!, unit: rest });
    } else {
      addSample(last, families.get(last), line);
    }
  }
  for (const [name, { type, samples }] of families) if (type === 'histogram') checkBuckets(name, samples);
  return families;
}

function addSample(name: string, family: Family | undefined, line: string): void {
  const { groups } = SAMPLE.exec(line) ?? {};
  assert.ok(groups !== undefined && family !== undefined, `a sample: ${line}`);
  const { name: sample = '', labels = '', value = '' } = groups ?? {};
  assert.ok(SUFFIXES[family!.type]?.some((suffix) => sample === name + suffix), `${sample} is of ${name}`);
  assert.match(labels, LABELS);
  const key = `${sample}{${labels}}`;
  assert.not.ok(family!.samples.has(key), `${key} comes once`);
  family!.samples.set(key, Number(value));
}

/** Bounds ascend, counts too, and the last bucket has all. */
function checkBuckets(name: string, samples: ReadonlyMap<string, number>): void {
  const before = new Map<string, { bound: number; count: number }>();
  for (const [key, count] of samples) {
    const [, labels = '', le = ''] = /_bucket\{(.*?),?le="([^"]*)"\}$/u.exec(key) ?? [];
    if (le === '') continue;
    const bound = le === '+Inf' ? Infinity : Number(le);
    const last = before.get(labels) ?? { bound: -Infinity, count: 0 };
    assert.match(le, /^(?:\+Inf|\d+\.\d+)$/u, 'a bound as OpenMetrics writes it:');
    assert.ok(bound > last.bound && count >= last.count, `${key} after le=${last.bound}`);
    before.set(labels, { bound, count });
  }
  for (const [labels, { bound, count }] of before) {
    assert.equal([bound, count], [Infinity, samples.get(`${name}_count{${labels}}`)], `${name}{${labels}}`);
    assert.ok(samples.has(`${name}_sum{${labels}}`), `the sum of ${name}`);
  }
}
