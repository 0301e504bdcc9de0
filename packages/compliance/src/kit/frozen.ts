/** Input of a component that it cannot change: a copy, frozen throughout. Of plain data; bytes stay as they are. */

export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  const copy = Array.isArray(value) ? value.map(frozen)
    : Object.fromEntries(Object.entries(value).map(([key, item]: [string, unknown]) => [key, frozen(item)]));
  return Object.freeze(copy) as Value;
}
