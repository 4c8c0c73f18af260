import type { SectionName } from "./section-names.ts";

/**
 * Name of a set of rules for valid files. `default` accepts all common forms. `strict-v1` applies the published grammar
 * of GNN 1.1, without groups, time shifts and names in other scripts. `seed-era` requires what the first tools of 2025
 * required.
 */
export type ProfileName = "default" | "strict-v1" | "seed-era";

export interface Profile {
  readonly name: ProfileName;
  readonly required: readonly SectionName[];
  readonly types: readonly string[];
  /** True if a declaration must state its type. */
  readonly typeRequired: boolean;
  /**
   * True if connections must be `a>b` or `a-b` with a label of letters, digits and `_`, and names must consist of
   * ASCII, `π` and `'`.
   */
  readonly plainGrammar: boolean;
  /** True if the first line of Time must be `Static` or `Dynamic`. */
  readonly timeKindFirst: boolean;
  /** True if an undeclared endpoint is an error. */
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
