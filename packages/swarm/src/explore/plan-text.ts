/** Plans as text: JSON, as an argument of the command, and in lines that people read. */

const WIDTH = 116;
const NOT_JSON = new Map([[Infinity, 'Infinity'], [-Infinity, '-Infinity']]);

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

/** The same in lines. A value is in one line if it fits behind the `before` characters that stand there already. */
export function layout(value: unknown, indent = '', before = indent.length): string {
  if (typeof value !== 'object' || value === null) return encode(value);
  const isList = Array.isArray(value);
  const inner = `${indent}  `;
  const parts = isList ? value.map((each: unknown) => layout(each, inner)) : fieldLines(value, inner);
  const [begin, end, gap] = isList ? ['[', ']', ''] : ['{', '}', ' '];
  if (parts.length === 0) return `${begin}${end}`;
  const line = `${begin}${gap}${parts.join(', ')}${gap}${end}`;
  if (!line.includes('\n') && before + line.length <= WIDTH) return line;
  return `${begin}\n${filled(parts, inner)}\n${indent}${end}`;
}

/** Of an object: each with its name. */
export function fieldLines(value: object, indent: string): string[] {
  return Object.entries(value).filter(([, each]) => each !== undefined).map(([name, each]) => {
    const begin = `${encode(name)}: `;
    return `${begin}${layout(each, indent, indent.length + begin.length)}`;
  });
}

/** As many in a line as fit. */
export function filled(parts: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1)}, ${part}`;
    const fits = lines.length > 0 && !longer.includes('\n') && indent.length + longer.length <= WIDTH;
    if (fits) lines.pop();
    lines.push(fits ? longer : part);
  }
  return lines.map((line) => `${indent}${line}`).join(',\n');
}
