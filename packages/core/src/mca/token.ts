/**
 * Tokens name what an agent's scope holds: the seams (platform, selected modules, identity), some twenty of them.
 * A token is a symbol that carries its type; this file loads nothing, so that tokens cost nothing to name.
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
