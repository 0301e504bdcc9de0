/** What the session agent may say: the form of each event, before it is believed. */

import { FORMS, type ProgramEvent, type RecordHead } from '@stci/interface';

type Test = (value: unknown) => boolean;

const isNumber: Test = (value) => Number.isInteger(value) && (value as number) >= 0;
const isText: Test = (value) => typeof value === 'string';
const isFlag: Test = (value) => typeof value === 'boolean';
const isForm: Test = (value) => FORMS.includes(value as never);
const listOf = (isItem: Test): Test => (value) => Array.isArray(value) && value.every(isItem);
const tupleOf = (...tests: readonly Test[]): Test => (value) =>
  Array.isArray(value) && tests.every((test, i) => test(value[i]));
const objectOf = (fields: Readonly<Record<string, Test>>): Test => (value) =>
  typeof value === 'object' && value !== null
  && Object.entries(fields).every(([name, test]) => test((value as RecordHead)[name]));
const orNone = (test: Test): Test => (value) => value === undefined || test(value);

const isRanges = listOf(tupleOf(isNumber, isNumber));
const isLost = listOf(tupleOf(isNumber, isNumber, isText, isText));
const isNumbers = listOf(isNumber);

const FIELDS: Readonly<Record<ProgramEvent['type'], Readonly<Record<string, Test>>>> = {
  welcome: { rank: isNumber, size: isNumber, job: isNumber, attempt: isNumber, host: isText },
  exit: { status: isNumber },
  refused: { reason: isText },
  failed: { lost: isLost },
  ended: { ranks: isRanges },
  agreed: {
    code: isText, reason: isText, parts: listOf(tupleOf(isNumber, isNumber, isForm)),
    agreed: objectOf({
      kind: isText, flag: isFlag, isMismatch: isFlag, ranks: isRanges, joined: isRanges, failed: isRanges,
      missing: isLost,
    }),
  },
  done: { id: isNumber },
  'failed-call': { id: isNumber, code: isText, reason: isText },
  message: { id: isNumber, from: isNumber, tag: isText, form: isForm },
  value: { id: isNumber, found: isFlag, form: isForm },
  hosts: { id: isNumber, hosts: listOf(tupleOf(isText, isRanges)) },
  topology: {
    id: isNumber, neighbours: isNumbers, children: isNumbers, diameter: isNumber, parent: Number.isInteger,
    next: orNone(Number.isInteger),
  },
};

export function isEvent(head: RecordHead): head is RecordHead & ProgramEvent {
  const type = String(head['type']);
  return Object.hasOwn(FIELDS, type) && objectOf(FIELDS[type as ProgramEvent['type']])(head);
}
