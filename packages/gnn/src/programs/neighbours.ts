import { edgesOf, type ModelView } from "../language/view.ts";

/** Names that edges connect with a name. Computed at first use, because most models do not need them. */
export class Neighbours {
  readonly #view: ModelView;
  #byName: Map<string, Set<string>> | undefined;

  constructor(view: ModelView) {
    this.#view = view;
  }

  of(name: string): Iterable<string> {
    this.#byName ??= this.#collected();
    return this.#byName.get(name) ?? [];
  }

  #collected(): Map<string, Set<string>> {
    const byName = new Map<string, Set<string>>();
    const join = (name: string, other: string): void => {
      const known = byName.get(name);
      if (known) known.add(other);
      else byName.set(name, new Set([other]));
    };
    for (const { source, target } of edgesOf(this.#view).edges) {
      join(source, target);
      join(target, source);
    }
    return byName;
  }
}
