import type { FailKind } from "../../packages/toolyard/src/core/calls/kinds.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ServedYard } from "./served-yard.ts";

/** Result of a call in the surface's own form, reduced to members that all surfaces can be compared by. */
export type Answer = { readonly value: unknown } | { readonly failure: JsonObject };

/** One way in which a program, a model or a person calls a tool. */
export interface Surface {
  call(tool: string, args: JsonObject, signal?: AbortSignal): Promise<Answer>;
  /** How the table of kinds has this surface say a failure. */
  told(kind: FailKind): JsonObject;
  close(): Promise<void>;
}

/** Things that a surface is opened over: a running hub, and the settings for surfaces that open their own. */
export type Ground = Pick<ServedYard, "hub" | "url" | "openPort" | "config" | "settings" | "variables">;

/** Opens a surface. The token is that of the caller, where the surface has callers. */
export type OpenSurface = (ground: Ground, token: string) => Promise<Surface>;

/** Result that no surface can distinguish: a caller that disconnected receives nothing. */
export const SILENCE: JsonObject = Object.freeze({ silence: true });
