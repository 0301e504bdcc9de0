/** What a run shows: at terminals of any width, and of a repeat that was not begun. */

import { RunView } from '@stci/finject-cli';
import type { HistoryEntry, HistoryRecord } from '@stci/finject/experiment';
import { assert, suite } from '@stci/testkit';

const PLAN = { repeat: 1, number: 1, configuration: '', keep: { ranks: [], hosts: [] }, injections: [] };
const TARGET = { type: 'target', repeat: 1, session: 's', job: 1, hosts: ['a'] } as const;
const END = {
  type: 'repeat-end', repeat: 1, report: undefined, isTimeOut: false, orphans: 0, stopped: 'error',
} as const;

function shown(columns: () => number | undefined, show: (view: RunView) => void): string {
  let out = '';
  const plans = [1, 2, 3].map((repeat) => ({ ...PLAN, repeat, number: repeat }));
  show(new RunView({ plans, hosts: ['a'], columns, write: (text) => void (out += text) }));
  return out;
}

const at = (entry: HistoryEntry, monotonicMs = 0): HistoryRecord => ({ wallMs: 0, monotonicMs, ...entry });

suite('view of a run', (test) => {
  test('the last line is as wide as the terminal is at that moment, and gone in the end', () => {
    let columns = 20;
    const out = shown(() => columns, (view) => {
      view.tick(0);
      view.onRecord(at({ type: 'repeat', plan: PLAN }));
      view.tick(500);
      columns = 60;
      view.tick(1000);
      columns = 1;
      view.tick(1500);
      view.end();
    });
    assert.equal(out.split('\r\u001b[K').slice(1),
      ['repeat 1 of 3\n', 'repeat 1 of 3  star', 'repeat 1 of 3  starting  0 of 0 faults injected', '']);
  });

  test('without a terminal there are plain lines only', () => {
    const out = shown(() => undefined, (view) => {
      view.onRecord(at({ type: 'repeat', plan: PLAN }));
      view.tick(500);
      view.onRecord(at(TARGET));
      view.onRecord(at({ type: 'start', repeat: 1 }, 100));
      view.onRecord(at({ type: 'problem', repeat: 1, text: 'of the\ntarget' }, 1100));
      view.end();
    });
    assert.is(out, 'repeat 1 of 3\n   0.000 s  start\n   1.000 s  of the target\n');
  });

  test('why a repeat was not begun is the error in the end, and not told here', () => {
    const out = shown(() => undefined, (view) => {
      view.onRecord(at({ type: 'repeat', plan: PLAN }));
      view.onRecord(at({ type: 'problem', repeat: 1, text: 'no such host' }));
      view.onRecord(at({ type: 'injection', repeat: 1, id: '1.x.1', state: 'never', text: 'not started' }));
      view.onRecord(at(END));
    });
    assert.is(out, `repeat 1 of 3\n${' '.repeat(12)}end: not begun, stopped\n`);
  });
});
