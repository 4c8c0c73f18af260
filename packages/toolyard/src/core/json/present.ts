type PresentMembers<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the members that have a value. */
export function present<T extends object>(members: T): PresentMembers<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as PresentMembers<T>;
}
