import type { GraphNode } from "../exports/graph.ts";
import { baseName } from "../language/names.ts";

/** Role of a variable in its model. `title` heads its group, `isFactor` draws a box instead of a circle. */
export interface Role {
  readonly title: string;
  readonly isFactor: boolean;
}

/** Roles in the order of the legend. */
export const ROLES = {
  observation: { title: "Observations", isFactor: false },
  likelihood: { title: "Likelihoods", isFactor: true },
  state: { title: "Hidden states", isFactor: false },
  transition: { title: "Transitions", isFactor: true },
  prior: { title: "Priors", isFactor: true },
  preference: { title: "Preferences", isFactor: true },
  policy: { title: "Policies and actions", isFactor: false },
  energy: { title: "Free energies", isFactor: true },
  precision: { title: "Precisions", isFactor: false },
  noise: { title: "Noise", isFactor: true },
  time: { title: "Time", isFactor: false },
  other: { title: "Others", isFactor: false },
} as const satisfies Readonly<Record<string, Role>>;

export type RoleName = keyof typeof ROLES;

/**
 * Parts of ontology terms with their roles, the more specific ones first: `PriorOverHiddenStates` is a prior, not a
 * state.
 */
const BY_TERM: readonly (readonly [RegExp, RoleName])[] = [
  [/FreeEnergy/, "energy"],
  [/Likelihood|Recognition|^ObservationMatrix/, "likelihood"],
  [/Transition|ControlInputMatrix/, "transition"],
  [/Preference/, "preference"],
  [/^Time|TrajectoryLength/, "time"],
  [/Variance/, "noise"],
  [/Precision|Beta|Gamma|Temperature/, "precision"],
  [/^Prior|Habit|InitialPolicy/, "prior"],
  [/Observation|ObservableState/, "observation"],
  [/State|Belief/, "state"],
  [/Policy|Action/, "policy"],
];

/** Usual names of variables with their roles, without time index and number. */
const BY_NAME: readonly (readonly [RegExp, RoleName])[] = [
  [/^(?:A|H|dirichlet_A)$/, "likelihood"],
  [/^(?:B|F|dirichlet_B)$/, "transition"],
  [/^(?:C|dirichlet_C)$/, "preference"],
  [/^(?:D|E|prior\w*|dirichlet_[DE])$/, "prior"],
  [/^(?:G|EFE|VFE)$/, "energy"],
  [/^(?:Q|R)$/, "noise"],
  [/^(?:s|s_prime|s'|x|x_prime|z|qs|state\w*|belief\w*)$/, "state"],
  [/^(?:o|y|obs\w*)$/, "observation"],
  [/^(?:π|pi|u|action\w*|policy|policies)$/u, "policy"],
  [/^(?:γ|gamma|β|beta|ω|omega|ζ|α|alpha)$/u, "precision"],
  [/^(?:t|dt|time)$/, "time"],
];

export function roleOf({ name, ontology }: Pick<GraphNode, "name" | "ontology">): RoleName {
  const byTerm = ontology === "" ? undefined : BY_TERM.find(([pattern]) => pattern.test(ontology));
  if (byTerm) return byTerm[1];
  const plain = withoutNumbers(baseName(name));
  return BY_NAME.find(([pattern]) => pattern.test(plain))?.[1] ?? "other";
}

const KIND = /_(?:m|f|c|level|agent)?$/;
/** Number of characters in `_level` and `_agent`. */
const KIND_LENGTH = 6;

/** Returns the name without trailing numbers: `A` for `A_agent1_m0`. Reads from the end, each character once. */
function withoutNumbers(name: string): string {
  let end = name.length;
  for (;;) {
    let at = end;
    while (at > 0 && isDigit(name.charCodeAt(at - 1))) at -= 1;
    const kind = at === end ? undefined : KIND.exec(name.slice(Math.max(0, at - KIND_LENGTH), at))?.[0];
    if (kind === undefined) return name.slice(0, end);
    end = at - kind.length;
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
