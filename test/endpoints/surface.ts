import type { FailKind } from "../../packages/toolyard/src/core/calls/kinds.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ServedYard } from "./served-yard.ts";

/** What a call came to in the surface's own words, reduced to what all surfaces can be compared by. */
export type Answer = { readonly value: unknown } | { readonly failure: JsonObject };

/** One way in which a program, a model or a person calls a tool. */
export interface Surface {
  call(tool: string, args: JsonObject, signal?: AbortSignal): Promise<Answer>;
  /** How the table of kinds has this surface say a failure. */
  told(kind: FailKind): JsonObject;
  close(): Promise<void>;
}

/** What a surface is opened over: a hub that runs, and the settings for those that make one of their own. */
export type Ground = Pick<ServedYard, "hub" | "url" | "openPort" | "config" | "settings" | "variables">;

/** Opens a surface. The token is that of the caller, where the surface has callers. */
export type OpenSurface = (ground: Ground, token: string) => Promise<Surface>;

/** What no surface can tell apart: the caller who went is told nothing. */
export const SILENCE: JsonObject = Object.freeze({ silence: true });
