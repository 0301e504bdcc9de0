/**
 * What a shape says, tried on the check of it: examples at its bounds, which are accepted as they come out of CBOR, and
 * mutants with one flaw each, which are refused with the place of the flaw.
 */

import { inspect } from 'node:util';
import { StciError } from '@stci/interface';
import { decode, encode } from '../../dist/codec/cbor.js';
import { check, type Form, type FormOf, type Shape } from '../../dist/codec/shape.js';

type Any = Shape<unknown>;
type Kind = Form['kind'];
type Step = string | number;

interface Mutant {
  readonly value: unknown;
  /** Of the flaw; undefined: it depends on the shape that is chosen for the value. */
  readonly place: readonly Step[] | undefined;
}

/** Something for each kind of form, made from the form. */
type ByKind<Result> = { readonly [K in Kind]: (form: FormOf<K>) => Result };

const apply = <Result>(table: ByKind<Result>, shape: Any): Result =>
  (table[shape.kind] as (form: Form) => Result)(shape);

/** Items of a list that an example has, keys of a record, characters of a text: more take a while. */
const ITEMS_MAX = 1000;
const CHARS_MAX = 0x1_0000;

/** The parts of an object or of a tuple, by their names or numbers. */
type Parts = readonly (readonly [Step, Any])[];

/** A value with another part; undefined: without it. */
function withPart(value: object, key: Step, part: unknown): object {
  if (Array.isArray(value)) return value.map((item: unknown, i) => (i === key ? part : item));
  const { [key]: _, ...others } = value as Readonly<Record<Step, unknown>>;
  return part === undefined ? others : { ...others, [key]: part };
}

/** An example with all parts that it may have, and one item of each list. */
const fullest = (shape: Any): unknown => examples(shape)[0];

function fullestOf(parts: Parts, empty: object): object {
  if (Array.isArray(empty)) return parts.map(([, part]) => fullest(part));
  return parts.reduce((value, [key, part]) => withPart(value, key, fullest(part)), empty);
}

/** Each part in all its examples, with the fullest of the others. */
function examplesOf(parts: Parts, empty: object): object[] {
  const full = fullestOf(parts, empty);
  return [full, ...parts.flatMap(([key, part]) => examples(part).slice(1).map((one) => withPart(full, key, one)))];
}

const keyed = (count: number, item: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i), item]));

const EXAMPLES: ByKind<readonly unknown[]> = {
  any: () => [{ a: [1, 'x'] }, 'x', 0, null],
  plain: () => [{ a: 1 }, {}],
  bool: () => [true, false],
  none: () => [],
  number: ({ min, max, isWhole }) => [min, max, ...(isWhole ? [] : [0.5])],
  text: ({ lengthMax }) => ['x', '', ...(lengthMax <= CHARS_MAX ? ['\uffff'.repeat(lengthMax)] : [])],
  bytes: ({ lengthMax }) => [1, 0, lengthMax].map((length) => new Uint8Array(length)),
  words: ({ words }) => words,
  list: ({ item, lengthMax }) => [
    ...examples(item).map((one) => [one]), [],
    ...(lengthMax <= ITEMS_MAX ? [Array.from({ length: lengthMax }, () => fullest(item))] : []),
  ],
  record: ({ item, keysMax, charsMax }) => [
    ...examples(item).map((k) => ({ k })), {}, { ['k'.repeat(charsMax)]: fullest(item) },
    ...(keysMax <= ITEMS_MAX ? [keyed(keysMax, fullest(item))] : []),
  ],
  optional: ({ item }) => [...examples(item), undefined],
  // A newer peer adds a field.
  fields: ({ fields, isClosed }) => [
    ...examplesOf(Object.entries(fields), {}),
    ...(isClosed ? [] : [{ ...fullestOf(Object.entries(fields), {}), added: 1 }]),
  ],
  tuple: ({ items }) => examplesOf([...items.entries()], []),
  variant: ({ kinds }) => Object.values(kinds).flatMap(examples),
  choice: ({ among }) => among.flatMap(examples),
  narrowed: ({ samples }) => samples.good,
};

/** As they were made: a shape is within many others. */
const MADE = new WeakMap<Any, readonly unknown[]>();

/** The fullest is the first. */
export function examples(shape: Any): readonly unknown[] {
  const made = MADE.get(shape) ?? apply(EXAMPLES, shape);
  MADE.set(shape, made);
  return made;
}

/** Values of types that a form may have, and of none. */
const TYPED: readonly (readonly [type: string, value: unknown])[] = [
  ['', undefined], ['', null], ['bool', true], ['number', 0.5], ['text', '?'], ['list', []], ['object', {}],
  ['bytes', new Uint8Array(1)], ['', NaN], ['', Infinity], ['', Symbol.for('x')],
];

const flaw = (value: unknown, ...place: Step[]): Mutant => ({ value, place });

const flaws = (values: readonly unknown[]): Mutant[] => values.map((value) => flaw(value));

/** Values of other types. */
const otherThan = (type: string): Mutant[] =>
  flaws(TYPED.filter(([other]) => other !== type).map(([, value]) => value));

const below = (mutant: Mutant, step: Step, value: unknown): Mutant =>
  ({ value, place: mutant.place && [step, ...mutant.place] });

function mutantsOf(parts: Parts, empty: object): Mutant[] {
  const full = fullestOf(parts, empty);
  return parts.flatMap(([key, part]) =>
    mutants(part).map((mutant) => below(mutant, key, withPart(full, key, mutant.value))));
}

/** With its first and its last item only, so that it takes no room. */
function sparse(length: number, item: unknown): unknown[] {
  const made = [item];
  made[length - 1] = item;
  return made;
}

const MUTANTS: ByKind<readonly Mutant[]> = {
  any: () => [],
  plain: () => otherThan('object'),
  bool: () => otherThan('bool'),
  none: () => otherThan('none'),
  number: ({ min, max, isWhole }) => [
    ...otherThan('number'), ...flaws([min - 1, max + 1].filter((one) => one < min || one > max)),
    ...flaws(isWhole ? [min + 0.5] : []),
  ],
  text: ({ lengthMax }) => [...otherThan('text'), flaw('x'.repeat(lengthMax + 1))],
  bytes: ({ lengthMax }) => [...otherThan('bytes'), flaw(new Uint8Array(lengthMax + 1))],
  words: ({ words }) => [...otherThan('word'), ...flaws(words.map((word) => `${word}!`))],
  list: ({ item, lengthMax }) => [
    ...otherThan('list'), flaw(sparse(lengthMax + 1, fullest(item))),
    ...mutants(item).map((mutant) => below(mutant, 0, [mutant.value])),
  ],
  record: ({ item, keysMax, charsMax }) => [
    ...otherThan('object'), flaw({ ['k'.repeat(charsMax + 1)]: fullest(item) }),
    ...flaws(keysMax <= ITEMS_MAX ? [keyed(keysMax + 1, fullest(item))] : []),
    ...mutants(item).map((mutant) => below(mutant, 'k', { k: mutant.value })),
  ],
  optional: ({ item }) => mutants(item).filter(({ value }) => value !== undefined && value !== null),
  fields: ({ fields }) => [...otherThan('object'), ...mutantsOf(Object.entries(fields), {})],
  tuple: ({ items }) => {
    const full = fullestOf([...items.entries()], []) as unknown[];
    return [...otherThan('list'), ...flaws([full.slice(1), [...full, 1]]), ...mutantsOf([...items.entries()], [])];
  },
  variant: ({ tag, kinds }) => Object.entries(kinds).flatMap(([kind, shape]) => [
    ...mutants(shape), flaw(withPart(fullest(shape) as object, tag, `${kind}!`), tag),
  ]),
  // What is wrong at the first level may have another shape chosen.
  choice: ({ among }) => among.flatMap((shape) => mutants(shape)
    .filter(({ value }) => among.every((other) => other === shape || refusal(other, value) !== undefined))
    .map(({ value, place = [] }) => ({ value, place: place.length > 1 ? place : undefined }))),
  narrowed: ({ whole, samples }) => [...mutants(whole), ...flaws(samples.bad)],
};

export function mutants(shape: Any): readonly Mutant[] {
  return apply(MUTANTS, shape);
}

/** What the shape says against a value; undefined: nothing. */
function refusal(shape: Any, value: unknown, label = ''): string | undefined {
  try {
    check(shape, value, label);
    return undefined;
  } catch (fault) {
    if (fault instanceof StciError && fault.code === 'STCI_MESSAGE_INVALID') return fault.message;
    throw fault;
  }
}

/** Bytes of the field that a newer peer adds. */
const ADDED_BYTES = 16;

function exampleFlaw(shape: Any, example: unknown, label: string): string | undefined {
  const bytes = encode(example);
  if (bytes.length > shape.bytesMax + ADDED_BYTES) return `has ${bytes.length} bytes, more than ${shape.bytesMax}`;
  const came = decode(bytes);
  return refusal(shape, came, label) ?? (Buffer.compare(encode(came), bytes) === 0 ? undefined : 'has changed');
}

function mutantFlaw(shape: Any, { value, place }: Mutant, label: string): string | undefined {
  const refused = refusal(shape, value, label);
  if (refused === undefined) return 'is accepted';
  const steps = place?.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  const isNamed = steps === undefined || `${refused},`.includes(` at ${label}${steps.join('')},`);
  return isNamed ? undefined : `has its flaw at ${steps.join('')}, and is refused so: ${refused}`;
}

/** Where values of a shape are not judged by it; `judge`: another one that they are judged by. */
export function deviations(shape: Any, label: string, judge: Any = shape): string[] {
  const show = (value: unknown): string => inspect(value, { depth: 9, maxStringLength: 9, maxArrayLength: 3 });
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // Of thousands of errors; traces take most of the time.
  const found = [
    ...examples(shape).map((value) => [value, exampleFlaw(judge, value, label)] as const),
    ...mutants(shape).map((mutant) => [mutant.value, mutantFlaw(judge, mutant, label)] as const),
  ];
  Error.stackTraceLimit = stackTraceLimit;
  return found.flatMap(([value, text]) => (text === undefined ? [] : [`${label}: ${show(value)} ${text}`]));
}

type Place = readonly [place: string, form: Form];

const inAll = (parts: Iterable<Any>, place: string): Place[] => [...parts].flatMap((part) => formsIn(part, place));

/** Every form within a shape with its place, where `[]` is each item of a list and `.*` each of a record. */
export function formsIn(form: Any, place: string): Place[] {
  return [[place, form], ...formsWithin(form, place)];
}

function formsWithin(form: Form, place: string): Place[] {
  switch (form.kind) {
    case 'list': return formsIn(form.item, `${place}[]`);
    case 'record': return formsIn(form.item, `${place}.*`);
    case 'optional': return formsIn(form.item, place);
    case 'narrowed': return formsIn(form.whole, place);
    case 'fields': return Object.entries(form.fields).flatMap(([key, part]) => formsIn(part, `${place}.${key}`));
    case 'tuple': return form.items.flatMap((part, i) => formsIn(part, `${place}[${i}]`));
    case 'variant': return inAll(Object.values(form.kinds), place);
    case 'choice': return inAll(form.among, place);
    default: return [];
  }
}
