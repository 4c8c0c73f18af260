/** Sets a member of an object or an array. Assigned, the member `__proto__` would become the prototype. */
export function setMember(container: object, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(container, name, { value, enumerable: true, configurable: true, writable: true });
  else (container as Record<string, unknown>)[name] = value;
}
