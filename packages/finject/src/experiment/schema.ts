/**
 * The JSON schema of experiment files: published for editors as docs/experiment.schema.json, and what checks a file's
 * form. A title says what is expected, and is part of messages. Where a value may have several types, the keywords of
 * each type stand side by side, so that a message is about the one that was written.
 */

import { TRIGGER_EVENTS } from './contracts.js';

/** JSON schema, draft 7, as far as it is used. */
export interface Schema {
  readonly $schema?: string;
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number | boolean | readonly string[];
  readonly definitions?: Readonly<Record<string, Schema>>;
}

export const REPEATS_MAX = 100_000;
export const COUNT_MAX = 10_000;
export const VICTIMS_DEFAULT = 100;
export const NAME_CHARS_MAX = 64;
const INJECTED_MAX = 1_000_000_000;
const RANK_MAX = 0xffff_ffff;
const LIST_MAX = 100_000;
/** Bound on the faults of a file; a whole and its parts are one each. */
export const FAULTS_MAX = 1000;
export const CHECKS_MAX = 1000;
export const CONFIGURATIONS_MAX = 100;

type Properties = Readonly<Record<string, Schema>>;

const NAME = '^[A-Za-z][A-Za-z0-9_-]*$';

/** A reference, with what it means here. */
function ref(definition: string, description: string, byDefault?: Schema['default']): Schema {
  return { $ref: `#/definitions/${definition}`, description, ...(byDefault !== undefined && { default: byDefault }) };
}

function object(title: string, properties: Properties, required: readonly string[] = []): Schema {
  return { title, type: 'object', properties, additionalProperties: false, ...(required.length > 0 && { required }) };
}

function integer(description: string, minimum: number, maximum: number, byDefault?: number): Schema {
  const title = `an integer in ${minimum}..${maximum}`;
  const more = byDefault === undefined ? {} : { default: byDefault };
  return { title, description, type: 'integer', minimum, maximum, ...more };
}

function oneOf(description: string, values: readonly string[]): Schema {
  return { title: `one of ${values.join(', ')}`, description, type: 'string', enum: values };
}

function text(description: string, maxLength = 4096): Schema {
  return { title: 'text', description, type: 'string', minLength: 1, maxLength };
}

const SCALAR: Schema = { title: 'text or a number', type: ['string', 'number', 'boolean'] };

const DURATION: Schema = { $ref: '#/definitions/duration' };

const TRIGGER: Schema = {
  title: 'an event as text (start; first detection; detection 2 of FAULT), or an object with event, output or mark',
  type: ['string', 'object'], additionalProperties: false, default: 'start',
  description: 'The moment from which delay counts. start: all ranks run and the warm-up is over; launch: the job was '
    + 'accepted; detection, suspicion, recovery, exit, injection: of any fault, or of the one named.',
  properties: {
    event: oneOf('An event of the job.', TRIGGER_EVENTS),
    of: text('Of this fault.'),
    output: text('A line of the target\'s output that matches this regular expression of JavaScript.'),
    mark: text('A rank\'s own call of mark(NAME) in the client library.'),
    rank: integer('Of this rank only. Default: any.', 0, RANK_MAX),
    nth: integer('Its number: 1 is the first.', 1, 1_000_000, 1),
  },
};

const CHECK: Schema = {
  title: 'a check: no-orphan, no-false-detection, or an object such as {exit-code: 0}',
  type: ['string', 'object'], additionalProperties: false,
  properties: {
    name: text('For the record and the report. Default: the type of the check.', NAME_CHARS_MAX),
    'exit-code': {
      title: 'an exit code, a range such as 1-255, or a list of them', type: ['integer', 'string', 'array'],
      minimum: 0, maximum: 255, items: { title: 'an exit code', type: ['integer', 'string'], minimum: 0, maximum: 255 },
      description: 'The exit code that stcirun would have is one of these.',
    },
    output: text('A regular expression that a line of the output matches.'),
    'no-output': text('A regular expression that no line of the output matches.'),
    rank: integer('Of output and no-output: of this rank only.', 0, RANK_MAX),
    command: ref('words', 'A command that must end with 0, on the machine of finject.'),
    phase: { ...oneOf('Of command: before the job, once while it runs, or after it.', ['before', 'during', 'after']),
      default: 'after' },
    timeout: ref('duration', 'Of command: it has failed if it takes longer.', '10s'),
    'time-limit': ref('duration', 'A repeat takes at most so long.'),
    'failed-ranks': {
      title: 'victims, none, or ranks such as [3, 5-7]', type: ['string', 'integer', 'array'], minimum: 0,
      items: { title: 'a rank, or a range such as 4-6', type: ['integer', 'string'], minimum: 0, maximum: RANK_MAX },
      description: 'Ranks that have failed at the end: exactly the victims, none, or these.',
    },
    detected: ref('duration', 'Each injection that ends something is detected within this time.'),
    injected: {
      title: 'all, or a number of victims', type: ['string', 'integer'], minimum: 0, maximum: INJECTED_MAX,
      default: 'all',
      description: 'So many victims are hit at least; all: each but those that an earlier fault has ended. Also where '
        + 'it is not written.',
    },
    'no-orphan': { title: 'true', type: 'boolean', description: 'No process is left on any host.' },
    'no-false-detection': {
      title: 'true', type: 'boolean', description: 'No failure is reported that no fault caused.',
    },
  },
};

const CHOICES = 'all; random K; P%; contiguous K (neighbours; where they begin is random)';

/** Texts and lists that several keys share. Which forms a text may have is read by values.ts. */
const DEFINITIONS = {
  duration: {
    title: 'a duration: an integer and a unit (ms, s, m, h), such as 250ms or 2s',
    type: ['string', 'integer'], pattern: '^(0|\\d+(ms|s|m|h))$', minimum: 0, maximum: 0,
  },
  words: {
    title: 'a command line as one text, or as a list of words',
    type: ['string', 'array'], items: SCALAR, minLength: 1, maxItems: LIST_MAX,
  },
  distribution: {
    title: 'a time: 2s; uniform 1s 5s; exponential 5s (its mean); weibull 0.7 10s (shape, scale); normal 5s 1s (mean, '
      + 'deviation; cut off at 0); trace FILE',
    type: ['string', 'integer', 'object'], minimum: 0, maximum: 0, minProperties: 1, maxProperties: 1,
    additionalProperties: false,
    properties: {
      fixed: { $ref: '#/definitions/duration' },
      uniform: object('min and max', { min: DURATION, max: DURATION }, ['min', 'max']),
      exponential: object('the mean', { mean: DURATION }, ['mean']),
      weibull: object('shape and scale', { shape: { title: 'a number', type: 'number' }, scale: DURATION },
        ['shape', 'scale']),
      normal: object('mean and deviation', { mean: DURATION, deviation: DURATION }, ['mean', 'deviation']),
      trace: text('File of times from the trigger, ascending, one a line: milliseconds, or with a unit. # comments.'),
    },
  },
  ranks: {
    title: `ranks: 3; [1, 4-6]; 0-3,7; ${CHOICES}`,
    type: ['integer', 'string', 'array'], minimum: 0, maximum: RANK_MAX, maxItems: LIST_MAX,
    items: { title: 'a rank, or a range such as 4-6', type: ['integer', 'string'], minimum: 0, maximum: RANK_MAX },
  },
  hosts: {
    title: `hosts by name or by number from 0: n[1-4]; [n1, n3]; 0-3; ${CHOICES}`,
    type: ['integer', 'string', 'array'], minimum: 0, maximum: RANK_MAX, maxItems: LIST_MAX,
    items: { title: 'a host', type: ['integer', 'string'], minimum: 0, maximum: RANK_MAX },
  },
  agents: {
    title: 'a list of agents: controller, and hosts, which stand for their root agents',
    type: 'array', minItems: 1, items: { title: 'controller or a host', type: ['string', 'integer'], minimum: 0 },
  },
  names: {
    title: 'a name, or a list of names',
    type: ['string', 'array'], items: { title: 'a name', type: 'string' },
  },
  fault: object('a fault', {
    kind: text('The kind of fault: `stci info fault` lists them with their arguments; or `compose` (parts at the same '
      + 'time) or `sequence` (parts one after the other).', NAME_CHARS_MAX),
    name: {
      title: 'a name: a letter, then letters, digits, - and _, at most 64', type: 'string', pattern: NAME,
      maxLength: NAME_CHARS_MAX,
      description: 'For messages, the record and other faults. Default: its kind.',
    },
    args: {
      title: 'the kind\'s arguments by name', type: 'object',
      additionalProperties: {
        title: 'text, a number, true, false or a list of them', type: ['string', 'number', 'boolean', 'array'],
        items: SCALAR, maxItems: LIST_MAX,
      },
      description: 'Arguments of the kind, as `stci info fault:KIND` lists them.',
    },
    who: object('an object with one of ranks, hosts, agents, links, partition', {
      ranks: ref('ranks', 'Victims are ranks.'),
      hosts: ref('hosts', 'Victims are hosts.'),
      agents: oneOf('Victims are agents of this role. front-end and controller must be allowed.',
        ['root', 'session', 'controller', 'front-end']),
      links: {
        title: `all; ${CHOICES}; or a list of pairs such as [controller, n1]`,
        type: ['string', 'array'], items: { $ref: '#/definitions/agents' }, maxItems: LIST_MAX,
        description: 'Victims are links: those of the boot tree, or between two named agents.',
      },
      partition: {
        title: 'halves, ring, bridge, isolate, or a list of sets such as [[controller, n1], [n2]]',
        type: ['string', 'array'], items: { $ref: '#/definitions/agents' }, maxItems: LIST_MAX,
        description: 'Agents that share no set can\'t talk to each other. halves: the controller is in the larger; '
          + 'ring: each reaches two neighbours; bridge: halves with one host in both; isolate: one host is alone.',
      },
      choose: { title: CHOICES, type: 'string', description: 'How many of them, where it is not said with them.' },
      on: ref('hosts', 'Only those on these hosts; a link is on the host of its lower end.'),
      depth: integer('Only on hosts whose root agent is so many hops from the controller in the boot tree.', 1, 1000),
      not: ref('hosts', 'Not these ranks, or not those on these hosts.'),
      'same-host-as': text('Only those on the host of a victim of this fault\'s injection with the same number.'),
      'not-of': ref('names', 'None that an injection of these faults has as its victim.'),
      distinct: { title: 'true or false', type: 'boolean', default: false,
        description: 'Not the same victim twice in a repeat.' },
    }),
    when: {
      title: 'a time after the start, or an object with after, delay, every',
      type: ['string', 'integer', 'object'], minimum: 0, maximum: 0,
      description: 'Default: at the start, when all ranks run and the warm-up is over.',
      additionalProperties: false,
      properties: {
        after: TRIGGER,
        delay: ref('distribution', 'From the trigger to the first injection.', '0'),
        every: ref('distribution', 'From one injection to the next. Default: as delay.'),
      },
    },
    configurations: ref('names', 'Injected in these configurations alone. Default: in all.'),
    count: integer('Injections; each has all victims that who chooses. Default: 1, or as many as the trace has times.',
      1, COUNT_MAX),
    'cool-down': ref('duration', 'At least so long between the end of one injection and the next. Default: they may '
      + 'overlap.'),
    duration: ref('duration', 'Undone so long after it was injected. A kind that can be undone needs it.'),
    timeout: ref('duration', 'An injection that is not made within this time has failed.', '10s'),
    parts: {
      title: 'a list of faults', type: 'array', items: { $ref: '#/definitions/fault' }, minItems: 1, maxItems: 100,
      description: 'Of compose and sequence. Their times count from the moment of the whole, or from the end of the '
        + 'part before.',
    },
  }, ['kind']),
  check: CHECK,
} as const satisfies Readonly<Record<string, Schema>>;

export const EXPERIMENT_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  ...object('an experiment of finject', {
    name: {
      title: 'a name: a letter, then letters, digits, - and _, at most 64', type: 'string', pattern: NAME,
      maxLength: NAME_CHARS_MAX, description: 'For the record, the report and the directory of the run.',
    },
    description: { title: 'text', type: 'string', maxLength: 10_000, description: 'What is to be found out.' },
    target: {
      title: 'a command line of stcirun, or an object with options and program',
      type: ['string', 'array', 'object'], items: SCALAR, minLength: 1, maxItems: LIST_MAX,
      additionalProperties: false,
      description: 'The job, as for stcirun: a text or a list that begins with stcirun, or its parts.',
      properties: {
        options: ref('words', 'Options of stcirun.'),
        program: ref('words', 'Program and arguments; several programs are separated by `:`.'),
        session: text('A session that runs already, by its name. Default: each repeat has a session of its own.'),
        simulated: ref('words', 'What stands for the program in simulation.'),
      },
    },
    hosts: {
      title: 'a host list such as n[1-4], or a list of them', type: ['string', 'array'], minLength: 1,
      items: { title: 'a host list such as n[1-4]', type: 'string', minLength: 1 }, maxItems: LIST_MAX,
      description: 'Hosts of the target, in order. Default: as stcirun decides.',
    },
    repeats: integer('How often the target is run, in each configuration.', 1, REPEATS_MAX, 1),
    seed: integer('Of all that is random: the same seed gives the same schedule on each machine.', 0,
      Number.MAX_SAFE_INTEGER, 1),
    'warm-up': ref('duration', 'From the moment when all ranks run to `start`.', '0'),
    'time-limit': ref('duration', 'A repeat that takes longer is ended, and has hung.', '5m'),
    faults: { title: 'a list of faults', type: 'array', items: { $ref: '#/definitions/fault' }, maxItems: FAULTS_MAX,
      description: 'What is injected. Without any, runs show how the target behaves by itself.' },
    checks: { title: 'a list of checks', type: 'array', items: { $ref: '#/definitions/check' }, maxItems: CHECKS_MAX,
      description: 'What must be true of each repeat.' },
    stop: {
      ...object('an object with failures and after', {
        failures: integer('Stop after so many repeats that did not pass. Default: never.', 0, REPEATS_MAX, 0),
        after: ref('duration', 'Stop the whole run after this time.'),
      }), description: 'When the run ends before all repeats are done.',
    },
    outputs: {
      ...object('an object with directory and target-output', {
        directory: text('Of the run: must not exist, or be empty. Default: finject-runs/NAME-TIME.'),
        'target-output': { title: 'a size such as 64KiB or 1MB', type: ['string', 'integer'], minimum: 0,
          default: '1MiB', description: 'Output of the target that is kept of each repeat.' },
      }), description: 'What is written, and where.',
    },
    'keep-alive': {
      ...object('an object with ranks and hosts', {
        ranks: ref('ranks', 'Never victims, nor are their hosts and the agents that link them to the controller.'),
        hosts: ref('hosts', 'Never victims, nor are ranks on them and the agents that link them to the controller.'),
      }), description: 'What no fault may harm.',
    },
    allow: {
      title: 'controller, front-end or both', type: ['string', 'array'],
      items: { title: 'controller or front-end', type: 'string' },
      description: 'Agents that faults may end although the experiment needs them.',
    },
    'victims-max': integer('Most victims of a repeat, each counted once.', 1, RANK_MAX, VICTIMS_DEFAULT),
    configurations: {
      title: 'an object: name to options', type: 'object',
      propertyNames: { title: 'a name: a letter, then letters, digits, -, _ and ., at most 64',
        pattern: '^[A-Za-z][A-Za-z0-9_.-]*$', maxLength: NAME_CHARS_MAX },
      maxProperties: CONFIGURATIONS_MAX,
      additionalProperties: {
        title: 'options of stcirun, or an object with options, program and hosts', type: ['string', 'array', 'object'],
        items: SCALAR, maxItems: LIST_MAX, additionalProperties: false,
        properties: {
          options: ref('words', 'Added to the target\'s.'),
          program: ref('words', 'With its arguments, in place of the target\'s.'),
          hosts: {
            title: 'a host list such as n[1-4], or a list of them', type: ['string', 'array'], minLength: 1,
            items: { title: 'a host list such as n[1-4]', type: 'string', minLength: 1 }, maxItems: LIST_MAX,
            description: 'In place of the experiment\'s.',
          },
        },
      },
      description: 'The same experiment with other options, to be compared; each has all repeats.',
    },
  }, ['name', 'target']),
  definitions: DEFINITIONS,
};
