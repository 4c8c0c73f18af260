/** Sets a member of an object or an array. A plain assignment to `__proto__` would change the prototype instead. */
export function setMember(container: object, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(container, name, { value, enumerable: true, configurable: true, writable: true });
  else (container as Record<string, unknown>)[name] = value;
}
