export type TierName = "unit" | "main" | "rest" | "all";

export interface TierProject {
  readonly include: string[];
  readonly exclude: string[];
}

export declare const PROJECTS: Readonly<Record<"unit-alone" | "unit" | "main" | "rest", TierProject>>;
export declare const TIERS: Readonly<Record<TierName, readonly (keyof typeof PROJECTS)[]>>;
export declare const GOAL_MINUTES: Readonly<Record<TierName, number>>;
