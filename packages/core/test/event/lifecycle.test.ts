/** Life cycles: every state × event of each table against one written out here. */

import { assert, suite } from '@stci/testkit';
import { AGENT_LIFE } from '../../dist/agent/lifecycle.js';
import { CHILD_LIFE } from '../../dist/boot/child.js';
import { Lifecycle, nextState, type LifeTable } from '../../dist/event/lifecycle.js';
import { JOB_HOST_LIFE } from '../../dist/jobs/job-hosts.js';
import { MEMBER_LIFE } from '../../dist/membership/member.js';
import { RANK_LIFE } from '../../dist/tools/hosted-rank.js';
import { HOSTED_JOB_LIFE } from '../../dist/tools/session.js';
import { TOOL_LIFE } from '../../dist/tools/tool.js';

interface Expected {
  readonly table: LifeTable<string, string>;
  readonly events: string;
  /** By state, what each event leads to; `-`: a programmer's mistake. */
  readonly rows: Readonly<Record<string, string>>;
}

const LIVES: readonly Expected[] = [
  {
    table: AGENT_LIFE,
    events: 'linked initialized orphan stop stopped fault',
    rows: {
      bootstrapping: 'initializing - - ended - failed',
      initializing: '- running - stopping - failed',
      running: '- - orphaned stopping - failed',
      orphaned: 'running - - stopping - failed',
      stopping: '- - - stopping ended failed',
      ended: '- - - ended ended -',
      failed: '- - - failed failed failed',
    },
  },
  {
    table: MEMBER_LIFE,
    events: 'plan start up suspect orphan link leave fail fence',
    rows: {
      planned: '- starting - - - - left failed -',
      starting: 'planned - up - - - left failed -',
      up: 'planned - - suspect orphaned up left failed -',
      suspect: 'planned - - - - up left failed fenced',
      orphaned: 'planned - - suspect - up left failed fenced',
      left: 'planned - - - - - - - -',
      failed: 'planned - - - - - left - -',
      fenced: 'planned - - - - - left - -',
    },
  },
  {
    table: JOB_HOST_LIFE,
    events: 'start report drain lose forget',
    rows: {
      unused: 'awaited drained unused lost unused',
      awaited: 'awaited present unused lost unused',
      present: 'present present drained lost drained',
      drained: 'present drained drained lost drained',
      lost: 'awaited lost lost lost lost',
    },
  },
  {
    table: CHILD_LIFE,
    events: 'start up fail lose stop settle',
    rows: {
      waiting: 'starting - - - gone gone',
      starting: '- up stopping - - -',
      adopting: '- up - - - gone',
      up: '- - - lost stopping -',
      lost: '- - - - stopping gone',
      stopping: '- - - - - gone',
      gone: '- - - - - gone',
    },
  },
  {
    table: TOOL_LIFE,
    events: 'start stop end leave',
    rows: {
      unstarted: 'running - - -',
      running: '- ending ended -',
      ending: '- ending ended -',
      ended: '- ended ended gone',
      gone: '- gone gone -',
    },
  },
  {
    table: RANK_LIFE,
    events: 'queue start fail move due leave end stop',
    rows: {
      queued: '- running - - - - over over',
      running: '- - pausing leaving - - over ending',
      ending: '- - - - - - over ending',
      pausing: '- - - - queued - - over',
      leaving: '- - - - - over - over',
      over: 'queued - - - - - - over',
    },
  },
  {
    table: HOSTED_JOB_LIFE,
    events: 'launch open sweep drain restart stop',
    rows: {
      awaited: 'opening - - - - stopped',
      opening: '- running - - - stopped',
      running: '- - sweeping drained - -',
      sweeping: '- - - drained running -',
      drained: '- - - - running -',
      stopped: '- - - - - -',
    },
  },
];

suite('life cycles', (test) => {
  for (const { table, events, rows } of LIVES) {
    test(`${table.of}: every state and event leads where the table says, or is refused`, () => {
      const next = (state: string, event: string): string => {
        try {
          return nextState(table, state, event);
        } catch (fault) {
          assert.match(String(fault), `${table.of} that is ${state} permits no event ${event}`);
          return '-';
        }
      };
      const found = Object.keys(table.rows).map((state) =>
        [state, events.split(' ').map((event) => next(state, event)).join(' ')]);
      assert.equal(Object.fromEntries(found), rows);
      const known = Object.values(table.rows).flatMap((row) => Object.keys(row));
      assert.equal([...new Set(known)].sort(), events.split(' ').sort(), 'events');
    });
  }

  test('one life goes by its table, and a refused event changes nothing', () => {
    const life = new Lifecycle(AGENT_LIFE);
    assert.equal([life.state, life.apply('linked'), life.state], ['bootstrapping', 'initializing', 'initializing']);
    assert.throws(() => life.apply('linked'), /an agent that is initializing permits no event linked/);
    assert.equal([life.is('running'), life.is('running', 'initializing')], [false, true]);
  });

  test('over is over: from ended and failed nothing leads away', () => {
    for (const [state, row] of Object.entries(AGENT_LIFE.rows)) {
      const isOver = state === 'ended' || state === 'failed';
      assert.is(isOver, Object.values(row).every((target) => target === state), state);
    }
  });
});
