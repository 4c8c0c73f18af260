// Requests to `/api/admin` with a token.
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";

export interface AdminQuestion {
  /** @default POST with a body, GET without */
  readonly method?: string;
  readonly body?: object;
  /** @default "t-ops" */
  readonly token?: string;
}

/** Sends a request to a path of the API. Returns the members of the answer, and its status as `http`. */
export type AskAdmin = (path: string, question?: AdminQuestion) => Promise<JsonObject>;

/** Returns the function that sends requests to the hub whose address `rootOf` returns. */
export function adminApi(rootOf: () => string): AskAdmin {
  return async (path, { method, body, token = "t-ops" } = {}) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = { headers, method: method ?? (body ? "POST" : "GET"), ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${rootOf()}/api/admin/${path}`, { redirect: "manual", ...init });
    return { ...((await response.json()) as JsonObject), http: response.status };
  };
}
