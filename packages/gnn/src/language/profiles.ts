import type { SectionName } from "./section-names.ts";

/**
 * Rules for valid files. `default` accepts all common forms; `strict-v1` applies the published grammar of GNN 1.1,
 * without groups, time shifts and names in other scripts; `seed-era` requires what the first tools of 2025 required.
 */
export type ProfileName = "default" | "strict-v1" | "seed-era";

export interface Profile {
  readonly name: ProfileName;
  readonly required: readonly SectionName[];
  readonly types: readonly string[];
  /** A declaration must say its type. */
  readonly typeRequired: boolean;
  /** Connections are `a>b` or `a-b` with a label of letters, digits and `_`; names are ASCII, `π` and `'`. */
  readonly plainGrammar: boolean;
  /** The first line of Time must be `Static` or `Dynamic`. */
  readonly timeKindFirst: boolean;
  /** An undeclared endpoint is an error. */
  readonly declaredEndpoints: boolean;
}

const HEAD = ["GNNSection", "GNNVersionAndFlags", "ModelName", "StateSpaceBlock", "Connections"] as const;

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  default: {
    name: "default",
    required: HEAD,
    types: ["float", "int", "bool", "string", "categorical", "double", "long"],
    typeRequired: false,
    plainGrammar: false,
    timeKindFirst: false,
    declaredEndpoints: false,
  },
  "strict-v1": {
    name: "strict-v1",
    required: HEAD,
    types: ["float", "int", "bool"],
    typeRequired: true,
    plainGrammar: true,
    timeKindFirst: false,
    declaredEndpoints: false,
  },
  "seed-era": {
    name: "seed-era",
    required: [...HEAD, "Footer", "Signature"],
    types: ["float", "int", "bool", "string", "categorical"],
    typeRequired: false,
    plainGrammar: false,
    timeKindFirst: true,
    declaredEndpoints: true,
  },
};
