/**
 * Tokens name what an agent's scope holds: platform, parameters, selected modules. A token is a symbol that carries its
 * type; this file imports nothing, so it costs nothing to load.
 */

/** A key whose value is of type `T`. */
export type Token<T> = symbol & { readonly __type?: T };

/** A new token; `name` is for messages. Two tokens of one name are two tokens. */
export function token<T>(name: string): Token<T> {
  return Symbol(name) as Token<T>;
}

export function tokenName(key: symbol): string {
  return key.description ?? 'unnamed token';
}
