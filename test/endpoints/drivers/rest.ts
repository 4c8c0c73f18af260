import { parseExact, stringifyExact } from "../../../packages/toolyard/src/core/json/exact-json.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { KINDS } from "../../../packages/toolyard/src/core/calls/kinds.ts";
import { SILENCE, type OpenSurface } from "../surface.ts";

/** `POST /api/tools/{name}` with the name escaped. */
export const rest: OpenSurface = async ({ url }, token) => ({
  call: async (tool, args, signal) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    try {
      const response = await fetch(`${url}/api/tools/${encodeURIComponent(tool)}`, {
        method: "POST",
        headers,
        body: stringifyExact(args),
        ...(signal ? { signal } : {}),
      });
      const value = parseExact(await response.text());
      return response.ok
        ? { value }
        : { failure: { status: response.status, kind: (value as { error: JsonObject }).error["kind"] } };
    } catch (error) {
      if (signal?.aborted) return { failure: SILENCE };
      throw error;
    }
  },
  told: (kind) => (kind === "cancelled" ? SILENCE : { status: KINDS[kind].http, kind }),
  close: () => Promise.resolve(),
});
