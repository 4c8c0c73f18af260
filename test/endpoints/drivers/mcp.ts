import { parseExact, stringifyExact } from "../../../packages/toolyard/src/core/json/exact-json.ts";
import { PassThrough } from "node:stream";
import { vi } from "vitest";
import { objectMember, type JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { KIND_META_KEY, KINDS, type FailKind } from "../../../packages/toolyard/src/core/calls/kinds.ts";
import { toolValue } from "../../../packages/toolyard/src/core/calls/tool-value.ts";
import { createProtocolSink } from "../../../packages/toolyard/src/process/stdout-guard.ts";
import type { ServedHub } from "../../../packages/toolyard/src/hub/serve/serve.ts";
import type { ServerConfig } from "../../../packages/toolyard/src/hub/serve/endpoints.ts";
import { serveStdio } from "../../../packages/toolyard/src/hub/serve/serve-stdio.ts";
import type { Hub } from "../../../packages/toolyard/src/hub/open-hub.ts";
import { HttpWire } from "../../fixtures/raw/http-wire.ts";
import { RawClient, type EraName } from "../../fixtures/raw/raw-client.ts";
import type { RawWire } from "../../fixtures/raw/wire.ts";
import { SILENCE, type Answer, type OpenSurface, type Surface } from "../surface.ts";

/** The two ends of a pipe to a hub in this process. */
export class HubPipe implements RawWire {
  onMessage: (message: JsonObject) => void = () => {};
  onFault: (error: Error) => void = () => {};
  readonly hasRequestStreams = false;
  readonly #input = new PassThrough();
  readonly #served: ServedHub;

  constructor(hub: Hub, server: ServerConfig = {}) {
    const output = new PassThrough();
    let rest = "";
    output.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.onMessage(parseExact(line) as JsonObject);
    });
    this.#served = serveStdio(hub, server, {
      input: this.#input,
      output: { sink: createProtocolSink(output), release: () => {} },
    });
  }

  async send(message: JsonObject): Promise<void> {
    this.#input.write(`${stringifyExact(message)}\n`);
  }
  async opened(): Promise<void> {}
  async close(): Promise<void> {
    await this.#served.close(0);
  }
}

class McpSurface implements Surface {
  readonly #client: RawClient;
  readonly #answersCancelled: boolean;

  /** @param answersCancelled true if each call has its own stream, which must not end without a reply */
  constructor(client: RawClient, answersCancelled = false) {
    this.#client = client;
    this.#answersCancelled = answersCancelled;
  }

  async call(name: string, args: JsonObject, signal?: AbortSignal): Promise<Answer> {
    const request = this.#client.request("tools/call", { name, arguments: args }, signal ? { signal } : {});
    if (signal) return this.#givenUp(request);
    const { error, result } = (await request) as { error?: JsonObject; result?: JsonObject };
    if (error) return { failure: { code: error["code"], kind: objectMember(error, "data")?.[KIND_META_KEY] } };
    if (result!["isError"] === true)
      // An error of the tool itself has no outcome code of the hub.
      return { failure: { isError: true, kind: objectMember(result!, "_meta")?.[KIND_META_KEY] ?? "tool_error" } };
    return { value: toolValue(result!) };
  }

  told(kind: FailKind): JsonObject {
    const { mcp } = KINDS[kind];
    if (mcp === "silence") return this.#answersCancelled ? CANCELLED : SILENCE;
    // The newest revisions of both eras use this form.
    return mcp === "isError" || mcp === "by-revision" ? { isError: true, kind } : { code: mcp, kind };
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #givenUp(request: Promise<JsonObject>): Promise<Answer> {
    const from = this.#client.received.length;
    await request.catch(() => {});
    // A late answer would arrive before the answer to this next call.
    await this.call("words.say", { text: "next" });
    const replies = (): JsonObject[] => this.#client.received.slice(from).filter((message) => !("method" in message));
    if (!this.#answersCancelled) return replies().length === 1 ? { failure: SILENCE } : { value: replies() };
    const error = await vi.waitFor(
      () =>
        replies().find((message) => "error" in message)?.["error"] ??
        Promise.reject(new Error("There is no reply yet.")),
    );
    return replies().length === 2 ? { failure: error as JsonObject } : { value: replies() };
  }
}

const CANCELLED: JsonObject = { code: 0, message: "Request cancelled" };

export const mcpHttp =
  (era: EraName): OpenSurface =>
  async ({ url }, token) =>
    new McpSurface(
      await RawClient.open(new HttpWire(`${url}/mcp`, era, { authorization: `Bearer ${token}` }), { era }),
      era === "legacy",
    );

export const mcpStdio =
  (era: EraName): OpenSurface =>
  async ({ hub }) =>
    new McpSurface(await RawClient.open(new HubPipe(hub), { era }));
