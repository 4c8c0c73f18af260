import type { FailKind } from "../../packages/toolyard/src/core/calls/kinds.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ServedYard } from "./served-yard.ts";

/** Result of a call in the surface's own form, reduced to the members that can be compared. */
export type Answer = { readonly value: unknown } | { readonly failure: JsonObject };

/** One way in which a program, a model or a user calls a tool. */
export interface Surface {
  call(tool: string, args: JsonObject, signal?: AbortSignal): Promise<Answer>;
  /** Returns the failure in the form that the table of outcome codes specifies for this surface. */
  told(kind: FailKind): JsonObject;
  close(): Promise<void>;
}

/** Parts that a surface is opened with: a running hub, and the settings for surfaces that open their own hub. */
export type Ground = Pick<ServedYard, "hub" | "url" | "openPort" | "config" | "settings" | "variables">;

/** Opens a surface. The token is the caller's, on surfaces with callers. */
export type OpenSurface = (ground: Ground, token: string) => Promise<Surface>;

/** Result for surfaces without an answer: a caller that disconnected receives nothing. */
export const SILENCE: JsonObject = Object.freeze({ silence: true });
