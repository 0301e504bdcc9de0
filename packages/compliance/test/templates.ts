/** The components of the packages that `stci plugin new` makes: right, small, and what mutants are made of. */

import type { AnyComponent } from '@stci/interface';

export async function templateOf<One>(framework: string): Promise<One> {
  const { href } = new URL(`../../stcirun/templates/${framework}/index.js`, import.meta.url);
  const { component } = await import(href) as { component: AnyComponent };
  return component as One;
}
