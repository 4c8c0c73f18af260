import { parseExact, stringifyExact } from "../../../packages/toolyard/src/core/json/exact-json.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { KINDS } from "../../../packages/toolyard/src/core/calls/kinds.ts";
import { SILENCE, type OpenSurface } from "../surface.ts";
import { HubPipe } from "./mcp.ts";

interface Reply {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: JsonObject;
}

export const jsonRpcHttp =
  (path: string): OpenSurface =>
  async ({ url }, token) => ({
    call: async (method, params, signal) => {
      const body = stringifyExact({ jsonrpc: "2.0", id: 1, method, params });
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      try {
        const response = await fetch(`${url}${path}`, { method: "POST", headers, body, ...(signal ? { signal } : {}) });
        const { error, result } = parseExact(await response.text()) as Reply;
        return error ? { failure: { status: response.status, code: error["code"] } } : { value: result };
      } catch (error) {
        if (signal?.aborted) return { failure: SILENCE };
        throw error;
      }
    },
    told: (kind) => (kind === "cancelled" ? SILENCE : { status: KINDS[kind].http, code: KINDS[kind].jsonrpc }),
    close: () => Promise.resolve(),
  });

/** No handshake is needed: the method is the name of the tool. */
export const jsonRpcStdio: OpenSurface = async ({ hub }) => {
  const pipe = new HubPipe(hub);
  const waiting = new Map<unknown, (reply: Reply) => void>();
  pipe.onMessage = (message) => waiting.get(message["id"])?.(message);
  let lastId = 0;
  const ask = (method: string, params: JsonObject): { id: number; reply: Promise<Reply> } => {
    lastId += 1;
    const id = lastId;
    const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    void pipe.send({ jsonrpc: "2.0", id, method, params });
    return { id, reply };
  };
  return {
    call: async (method, params, signal) => {
      const { id, reply } = ask(method, params);
      if (signal) {
        await new Promise<void>((resolve) => void signal.addEventListener("abort", () => resolve()));
        await pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
        const first = await Promise.race([reply, ask("words.say", { text: "next" }).reply]);
        return first.id === id ? { value: first } : { failure: SILENCE };
      }
      const { error, result } = await reply;
      return error ? { failure: { code: error["code"] } } : { value: result };
    },
    told: (kind) => (kind === "cancelled" ? SILENCE : { code: KINDS[kind].jsonrpc }),
    close: () => pipe.close(),
  };
};
