import { ConfigError } from "../core/errors.ts";

/**
 * Throws if a tree contains the key `__proto__`: its content would be inherited, so it would apply without being
 * checked. Parsers keep it as a key or use it as the prototype. `name` is the source of the tree.
 */
export function refuseInheritedKeys(tree: unknown, name: string): void {
  if (typeof tree !== "object" || tree === null || tree instanceof Date) return;
  if (Array.isArray(tree)) return tree.forEach((item) => refuseInheritedKeys(item, name));
  const prototype: unknown = Object.getPrototypeOf(tree);
  if (Object.hasOwn(tree, "__proto__") || (prototype !== null && prototype !== Object.prototype)) {
    throw new ConfigError([`${name}: the key \`__proto__\` is not allowed. Remove it, or choose another name.`]);
  }
  for (const member of Object.values(tree)) refuseInheritedKeys(member, name);
}
