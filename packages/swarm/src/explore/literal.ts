/** Plans as text: as the house writes a literal, and as an argument of the command. */

const WIDTH = 116;
const NAME = /^[a-zA-Z_]\w*$/;
const NOT_JSON = new Map([[Infinity, 'Infinity'], [-Infinity, '-Infinity']]);

/** As TypeScript; more than fits into a line in several, each begins with `indent`. */
export function literal(value: unknown, indent = '    '): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  const nameOf = (key: string): string => (NAME.test(key) ? key : literal(key));
  const partsIn = (inner: string): string[] => (isList
    ? value.map((each: unknown) => literal(each, inner))
    : Object.entries(value).map(([key, each]) => `${nameOf(key)}: ${literal(each, inner)}`));
  const [begin, end, gap] = isList ? ['[', ']', ''] : ['{', '}', ' '];
  const parts = partsIn(`${indent}  `);
  if (parts.length === 0) return `${begin}${end}`;
  const line = `${begin}${gap}${parts.join(', ')}${gap}${end}`;
  if (!line.includes('\n') && indent.length + line.length <= WIDTH) return line;
  return `${begin}\n${parts.map((part) => `${indent}  ${part},\n`).join('')}${indent}${end}`;
}

/** The top-level values that are not those of `plain`. */
export function different<Plan extends object>(plan: Plan, plain: Plan): Partial<Plan> {
  const known = new Map(Object.entries(plain));
  const isPlain = ([key, value]: [string, unknown]): boolean => encode(value) === encode(known.get(key));
  return Object.fromEntries(Object.entries(plan).filter((entry) => !isPlain(entry))) as Partial<Plan>;
}

/** JSON, in which no number is lost. */
export function encode(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => NOT_JSON.get(each as number) ?? each) ?? 'undefined';
}

/** Throws SyntaxError. */
export function decode(text: string): unknown {
  const numbers = new Map<unknown, number>([...NOT_JSON].map(([number, name]) => [name, number]));
  return JSON.parse(text, (_, each: unknown) => numbers.get(each) ?? each);
}
