type PresentMembers<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the members that are not `undefined`. */
export function present<T extends object>(members: T): PresentMembers<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as PresentMembers<T>;
}
