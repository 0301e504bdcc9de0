/** Hosts of batch systems: what their variables and files say, in good and in bad forms. */

import { StciError, type ErrorCode } from '@stci/interface';
import { allocate, allocationComponents, allocationFramework } from '@stci/core/allocation';
import { assert, suite } from '@stci/testkit';
import { createRegistry } from '@stci/core';
import { selectorOf } from '../assembly.js';

type Texts = Record<string, string>;

interface Asked {
  readonly hosts?: string;
  readonly exclude?: string;
  readonly set?: Texts;
  /** By path. */
  readonly files?: Texts;
}

const registry = createRegistry({ frameworks: [allocationFramework], components: allocationComponents });

/** Hosts as `name=slots`, with ~ for a hint, and where they are from. */
function from(variables: Texts, { hosts, exclude, set, files = {} }: Asked = {}): string {
  const deps = {
    variables,
    thisMachine: { hostname: 'me', cpuCount: 4 },
    readFile: (variable: string, path: string) => {
      const text = files[path];
      if (text === undefined) throw new StciError('STCI_ALLOCATION_INVALID', `${variable} names ${path}`);
      return text;
    },
  };
  const named = { hosts: hosts === undefined ? [] : [hosts], hostfiles: [] };
  const found = allocate(selectorOf(registry, set, { variables }), deps, {
    ...named, exclude: exclude === undefined ? [] : [exclude],
  });
  const origins = [...new Set(found.map(({ origin }) => origin))].join().replace(', ', ',');
  const words = found.map(({ name, slots, slotsBound }) => `${name}${slotsBound ? '=' : '~'}${slots}`);
  return `${words.join(' ')} ${origins}`;
}

/** A job of Slurm, with these variables without their `SLURM_`. */
function slurm(own: Texts, asked: Asked = {}): string {
  const all = Object.entries({ JOB_ID: '17', ...own });
  const variables = Object.fromEntries(all.map(([key, text]) => [`SLURM_${key}`, text]));
  return from(variables, asked).replace(/ SLURM_[\w,]+$/u, '');
}

const LIST = { JOB_NODELIST: 'h[1-4]' };

suite('hosts of a Slurm job', (test) => {
  test('are those of its list, with the slots that Slurm tells', () => {
    const cases: [Texts, string][] = [
      [{ ...LIST, TASKS_PER_NODE: '1(x4)', JOB_CPUS_PER_NODE: '8(x4)' }, 'h1=1 h2=1 h3=1 h4=1'],
      [{ ...LIST, TASKS_PER_NODE: '2(x3),1' }, 'h1=2 h2=2 h3=2 h4=1'],
      [{ ...LIST, TASKS_PER_NODE: '5,1,2(x2)' }, 'h1=5 h2=1 h3=2 h4=2'],
      [{ JOB_NODELIST: 'r[1-2]n[09-10],x', TASKS_PER_NODE: '3(x5)' }, 'r1n09=3 r1n10=3 r2n09=3 r2n10=3 x=3'],
      // As salloc -N2 -c2 --exclusive: Slurm has divided already.
      [{ ...LIST, TASKS_PER_NODE: '4(x4)', JOB_CPUS_PER_NODE: '8(x4)', CPUS_PER_TASK: '2' }, 'h1=4 h2=4 h3=4 h4=4'],
      // A job that was resized has none.
      [{ ...LIST, JOB_CPUS_PER_NODE: '8(x3),2' }, 'h1=8 h2=8 h3=8 h4=2'],
      [{ ...LIST, JOB_CPUS_PER_NODE: '8(x3),2', CPUS_PER_TASK: '3' }, 'h1=2 h2=2 h3=2 h4=1'],
      [{ ...LIST, CPUS_ON_NODE: '6', CPUS_PER_TASK: '2' }, 'h1=3 h2=3 h3=3 h4=3'],
      [LIST, 'h1~1 h2~1 h3~1 h4~1'],
      // A task that srun started in a larger job.
      [{ ...LIST, TASKS_PER_NODE: '1', STEP_TASKS_PER_NODE: '1', JOB_CPUS_PER_NODE: '3,1(x3)', STEP_NUM_TASKS: '1' },
        'h1=3 h2=1 h3=1 h4=1'],
      [{ ...LIST, TASKS_PER_NODE: '1', STEP_TASKS_PER_NODE: '1', NTASKS_PER_NODE: '2', JOB_CPUS_PER_NODE: '3,1(x3)' },
        'h1=2 h2=2 h3=2 h4=2'],
      [{ JOB_NODELIST: 'h', TASKS_PER_NODE: '1', STEP_TASKS_PER_NODE: '1', NTASKS_PER_NODE: '2' }, 'h=2'],
      [{ JOB_NODELIST: 'h', TASKS_PER_NODE: '4', NTASKS_PER_NODE: '2' }, 'h=4'],
      [{ ...LIST, TASKS_PER_NODE: '2(x4)', JOB_NUM_NODES: '4' }, 'h1=2 h2=2 h3=2 h4=2'],
    ];
    for (const [variables, hosts] of cases) assert.is(slurm(variables), hosts);
    assert.match(from({ SLURM_JOB_ID: '1', SLURM_JOB_NODELIST: 'h' }), /SLURM_JOB_NODELIST$/);
    assert.is(from({ SLURM_JOB_ID: '', PBS_NODEFILE: '' }), 'me~4 this machine');
  });

  test('names choose among them; others are refused with the remedy', () => {
    const job = { ...LIST, TASKS_PER_NODE: '2(x4)' };
    assert.is(slurm(job, { hosts: 'h3,h1' }), 'h3=2 h1=2');
    assert.is(slurm(job, { hosts: 'h3:1,h1', exclude: 'h1' }), 'h3=1 --host');
    const refusal = assert.throwsCode('STCI_HOST_UNKNOWN', () => slurm(job, { hosts: 'h1,h5' }));
    assert.match(refusal.message, 'host h5 is not in Slurm job 17. Did you mean h');
    assert.match(refusal.message, '--mca allocation=given takes names as they are.');
    assert.is(slurm(job, { hosts: 'h5', set: { allocation: 'given' } }), 'h5~1 --host');
    assert.is(slurm(job, { set: { allocation: 'machine' } }), 'me~4 this machine');
    assert.is(slurm(job, { set: { allocation: '^slurm' } }), 'me~4 this machine');
  });

  test('what is wrong is told with the variable, what was expected, and the remedy', () => {
    const cases: [Texts, string][] = [
      [{}, 'SLURM_JOB_ID is set, but SLURM_JOB_NODELIST is not set'],
      [{ JOB_NODELIST: ' ' }, 'SLURM_JOB_NODELIST is empty'],
      [{ JOB_NODELIST: 'h[1-' }, 'SLURM_JOB_NODELIST: column 2: expected a ] that closes'],
      [{ JOB_NODELIST: 'h[2-1]' }, 'expected a range that ascends'],
      [{ JOB_NODELIST: 'h[1-9999999]' }, 'expected at most 1000000 hosts'],
      [{ JOB_NODELIST: 'h1:4' }, 'expected names of hosts alone, got "h1:4"'],
      [{ JOB_NODELIST: 'h[1-3],h2' }, 'expected each host once, but h2 is named again'],
      [{ JOB_NODELIST: '(null)' }, 'SLURM_JOB_NODELIST: column 1'],
      [{ ...LIST, JOB_NUM_NODES: '3' }, 'SLURM_JOB_NUM_NODES is "3", but SLURM_JOB_NODELIST names 4 hosts'],
      [{ ...LIST, JOB_NUM_NODES: '3' }, 'slurm_job_17_resize.sh'],
      [{ ...LIST, TASKS_PER_NODE: '2(x3)' }, 'SLURM_TASKS_PER_NODE is "2(x3)", but SLURM_JOB_NODELIST names 4 hosts'],
      [{ ...LIST, TASKS_PER_NODE: '2(x5)' }, 'SLURM_TASKS_PER_NODE is "2(x5)"'],
      [{ ...LIST, TASKS_PER_NODE: '2(x999999999),1' }, 'names 4 hosts'],
      [{ ...LIST, TASKS_PER_NODE: '0(x4)' },
        'expected numbers in 1..1000000 and how often, such as 8(x3),4, got "0(x4)"'],
      [{ ...LIST, TASKS_PER_NODE: '2(x0),2(x4)' }, 'got "2(x0)"'],
      [{ ...LIST, TASKS_PER_NODE: '2(4)' }, 'got "2(4)"'],
      [{ ...LIST, TASKS_PER_NODE: '' }, 'SLURM_TASKS_PER_NODE: expected numbers'],
      [{ ...LIST, TASKS_PER_NODE: '99999999999(x4)' }, 'SLURM_TASKS_PER_NODE: expected numbers'],
      [{ ...LIST, JOB_CPUS_PER_NODE: '8' }, 'SLURM_JOB_CPUS_PER_NODE is "8"'],
      [{ ...LIST, JOB_CPUS_PER_NODE: '8(x4)', CPUS_PER_TASK: '0' }, 'SLURM_CPUS_PER_TASK: expected a number in'],
      [{ ...LIST, CPUS_ON_NODE: '-1' }, 'SLURM_CPUS_ON_NODE: expected a number in'],
      [{ HET_SIZE: '2' }, 'SLURM_HET_SIZE is "2": the Slurm job is heterogeneous'],
      [{ ...LIST, STEP_NUM_TASKS: '4' }, 'one of 4 tasks that srun started'],
    ];
    for (const [variables, words] of cases) {
      const { message } = assert.throwsCode('STCI_ALLOCATION_INVALID', () => slurm(variables));
      assert.match(message, words);
      assert.match(message, '--mca allocation=given');
      assert.ok(message.length < 600, message);
    }
  });

  test('is a large one quickly', () => {
    const hosts = slurm({ JOB_NODELIST: 'n[00001-10000]', TASKS_PER_NODE: '128(x10000)' }).split(' ');
    assert.equal([hosts.length, hosts[0], hosts.at(-1)], [10_000, 'n00001=128', 'n10000=128']);
  });

  test('the choice is explained', () => {
    const explain = (variables: Texts): string[] =>
      selectorOf(registry, {}, { variables }).explain('allocation', { hosts: [], hostfiles: [] }).candidates
        .map(({ component, verdict, reason }) => `${component.name} ${verdict}: ${reason ?? ''}`);
    const job = { SLURM_JOB_ID: '3', SLURM_JOB_NODELIST: 'h[1-2]', SLURM_TASKS_PER_NODE: '4(x2)' };
    assert.equal(explain(job).slice(0, 3), [
      'slurm accepted: Slurm job 3: 2 hosts of SLURM_JOB_NODELIST, their slots of SLURM_TASKS_PER_NODE',
      'machine accepted: ',
      'given declined: no host is named (--host, --hostfile)',
    ]);
    assert.match(explain({ ...job, SLURM_JOB_NODELIST: 'h[' })[0] ?? '', 'whose hosts cannot be read: SLURM_JOB');
    assert.is(explain({})[0], 'machine accepted: ');
  });
});

suite('hosts of a file that a variable names', (test) => {
  const files = { '/aux/7': 'n1.cluster\nn1.cluster\nn2.cluster\nn1.cluster\n' };

  test('have a slot for each line', () => {
    assert.is(from({ PBS_NODEFILE: '/aux/7', PBS_JOBID: '7.head' }, { files }),
      'n1.cluster=3 n2.cluster=1 /aux/7:1,/aux/7:3');
    assert.is(from({ LSB_DJOB_HOSTFILE: '/aux/7' }, { files, hosts: 'n2.cluster' }), 'n2.cluster=1 /aux/7:3');
    const both = { PBS_NODEFILE: '/aux/7', SLURM_JOB_ID: '1', SLURM_JOB_NODELIST: 'h1' };
    assert.is(from(both, { files }), 'h1~1 SLURM_JOB_NODELIST');
  });

  test('are refused by file and line, and by name', () => {
    const variables = { PBS_NODEFILE: '/aux/7', PBS_JOBID: '7.head' };
    const refused = (code: ErrorCode, asked: Asked, words: string): void =>
      assert.match(assert.throwsCode(code, () => from(variables, asked)).message, words);
    refused('STCI_HOSTFILE_INVALID', { files: { '/aux/7': 'n1\nn2 !\n' } }, '/aux/7:2:4:');
    refused('STCI_HOSTFILE_INVALID', { files: { '/aux/7': '\n' } }, '/aux/7: expected at least one host');
    refused('STCI_ALLOCATION_INVALID', {}, 'PBS_NODEFILE names /aux/7');
    refused('STCI_HOST_UNKNOWN', { files, hosts: 'n1' }, 'host n1 is not in PBS job 7.head.');
  });
});
