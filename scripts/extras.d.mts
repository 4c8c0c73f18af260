interface Lock {
  readonly packages: Readonly<Record<string, object>>;
}

export function locksOf(
  parts: Readonly<Record<string, { readonly packages: readonly string[] }>>,
  rootLock: Lock,
): Readonly<Record<string, Lock>>;
export function pinOf(lock: Lock): { readonly versions: Readonly<Record<string, string>>; readonly lock: string };
