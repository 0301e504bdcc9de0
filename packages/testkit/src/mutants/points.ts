/**
 * Mutations of a compiled file: small changes of its code, each of which a test ought to notice. Log texts, errors and
 * assertions are left alone, for they say nothing that a user relies on.
 */

import { createHash } from 'node:crypto';
import { parse, type AnyNode, type Expression, type Node } from 'acorn';

export interface Mutation {
  /** Of its file, operator, text, and number among the same: it stays when other code changes. */
  readonly id: string;
  readonly path: string;
  readonly operator: Operator;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export const OPERATORS = {
  negate: 'a condition is negated, or === is !==',
  bound: '< is <=, > is >=, and the other way round',
  logic: '&& is ||, and the other way round',
  arithmetic: '+ is -, and the other way round',
  call: 'a statement that is a call is dropped',
  return: 'a function returns at once, or undefined',
  constant: '0 is 1, a number to 16 is one more, a larger one is 0; true is false',
} as const;
export type Operator = keyof typeof OPERATORS;

const SWAPPED: Readonly<Record<string, readonly [Operator, string]>> = {
  '===': ['negate', '!=='], '!==': ['negate', '==='],
  '<': ['bound', '<='], '<=': ['bound', '<'], '>': ['bound', '>='], '>=': ['bound', '>'],
  '&&': ['logic', '||'], '||': ['logic', '&&'],
  '+': ['arithmetic', '-'], '-': ['arithmetic', '+'],
  '+=': ['arithmetic', '-='], '-=': ['arithmetic', '+='], '++': ['arithmetic', '--'], '--': ['arithmetic', '++'],
};
/** Larger constants are mostly times and sizes: one more changes nothing that matters. */
const SMALL_MAX = 16;
const ID_LENGTH = 8;

type Change = Pick<Mutation, 'operator' | 'start' | 'end' | 'replacement'>;

/** All mutations of a file of this text, in the order of their places. */
export function mutationsOf(path: string, text: string): Mutation[] {
  const counts = new Map<string, number>();
  const changes: Change[] = [];
  visit(parse(text, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    changes.push(...changesOf(node as AnyNode, text));
  });
  return changes.sort((a, b) => a.start - b.start || a.end - b.end).map((change) => {
    const name = `${path} ${change.operator} ${text.slice(change.start, change.end)} ${change.replacement}`;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const id = createHash('sha256').update(`${name} ${count}`).digest('hex').slice(0, ID_LENGTH);
    return { id, path, ...change };
  });
}

/** Calls back with each node that may be mutated. */
function visit(node: Node, call: (node: Node) => void): void {
  if (isLeftAlone(node as AnyNode)) return;
  call(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, call);
  }
}

function isNode(value: unknown): value is Node {
  return typeof (value as Node | null)?.type === 'string';
}

/** Texts, errors, assertions, log lines, and what declares. */
function isLeftAlone(node: AnyNode): boolean {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'TemplateLiteral':
      return true;
    case 'NewExpression':
      return node.callee.type === 'Identifier' && node.callee.name.endsWith('Error');
    case 'CallExpression':
      return /^assert\b|\blog\.write$/.test(nameOf(node.callee));
    default:
      return false;
  }
}

/** `this.#node.platform.log.write`; empty for what is not such a path. */
function nameOf(node: Node): string {
  const { type, name, object, property } = node as Node & { name?: string; object?: Node; property?: Node };
  if (type === 'MemberExpression') return `${nameOf(object as Node)}.${nameOf(property as Node)}`;
  return type === 'ThisExpression' ? 'this' : name ?? '';
}

function changesOf(node: AnyNode, text: string): Change[] {
  switch (node.type) {
    case 'IfStatement':
    case 'WhileStatement':
    case 'ConditionalExpression':
      return negated(node.test, text);
    case 'BinaryExpression':
    case 'LogicalExpression':
      if (isText(node.left) || isText(node.right)) return [];
      return swapped(node.operator, node.left.end, node.right.start, text);
    case 'AssignmentExpression':
      return isText(node.right) ? [] : swapped(node.operator, node.left.end, node.right.start, text);
    case 'UpdateExpression':
      return swapped(node.operator, node.start, node.end, text);
    case 'ExpressionStatement':
      return dropped(node.expression, node);
    case 'ReturnStatement': {
      if (!node.argument || nameOf(node.argument) === 'undefined') return [];
      return [{ operator: 'return', start: node.start, end: node.end, replacement: 'return undefined;' }];
    }
    case 'MethodDefinition':
      return node.kind === 'constructor' ? [] : returned(node.value.body);
    case 'FunctionDeclaration':
      return returned(node.body);
    case 'ArrowFunctionExpression':
      return returned(node.body);
    case 'Literal':
      return constant(node, node.value);
    default:
      return [];
  }
}

/** A comparison has its own change, and is negated by it if it is an equality. */
function negated(test: Expression, text: string): Change[] {
  if (test.type === 'BinaryExpression' && SWAPPED[test.operator]?.[0] === 'negate') return [];
  const { start, end } = test;
  return [{ operator: 'negate', start, end, replacement: `!(${text.slice(start, end)})` }];
}

function swapped(operator: string, from: number, to: number, text: string): Change[] {
  const [kind, replacement] = SWAPPED[operator] ?? [];
  if (kind === undefined || replacement === undefined) return [];
  const start = text.indexOf(operator, from);
  return start < 0 || start >= to ? [] : [{ operator: kind, start, end: start + operator.length, replacement }];
}

function dropped(expression: Expression, { start, end }: Node): Change[] {
  const inner = expression.type === 'ChainExpression' ? expression.expression : expression;
  if (inner.type !== 'CallExpression' || inner.callee.type === 'Super' || isLeftAlone(inner)) return [];
  return [{ operator: 'call', start, end, replacement: ';' }];
}

/** At once; not where the only statement has a change of that effect. */
function returned(body: AnyNode | null | undefined): Change[] {
  if (body?.type !== 'BlockStatement') return [];
  const [first] = body.body;
  const isSame = first?.type === 'ReturnStatement' || first?.type === 'ExpressionStatement';
  if (first === undefined || (body.body.length === 1 && isSame)) return [];
  return [{ operator: 'return', start: body.start, end: body.start + 1, replacement: '{ return;' }];
}

function constant({ start, end }: Node, value: unknown): Change[] {
  if (typeof value === 'boolean') return [{ operator: 'constant', start, end, replacement: String(!value) }];
  if (typeof value !== 'number') return [];
  const other = value === 1 || value > SMALL_MAX ? 0 : value + 1;
  return [{ operator: 'constant', start, end, replacement: String(other) }];
}

function isText(node: Node): boolean {
  const { type, value, left, right } = node as Node & { value?: unknown; left?: Node; right?: Node };
  if (type === 'BinaryExpression') return isText(left as Node) || isText(right as Node);
  return type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string');
}
