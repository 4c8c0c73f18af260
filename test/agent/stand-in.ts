// Serves the wire formats of OpenAI (chat and responses), Anthropic, Mistral and Google, and answers from a script.
// Replaces services that are unreachable in a test.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { ModelsConfig } from "../../packages/toolyard/src/models/options.ts";
import { anthropic } from "./wire/anthropic.ts";
import { google } from "./wire/google.ts";
import { mistral, openAiChat } from "./wire/openai-chat.ts";
import { openAiResponses } from "./wire/openai-responses.ts";
import type { ScriptedReply, Wire } from "./wire/script.ts";

export type { ScriptedCall, ScriptedReply } from "./wire/script.ts";

/** One received model request. */
export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
  readonly isStream: boolean;
  /** Resolves when the caller disconnected before the answer was complete. */
  readonly left: Promise<void>;
}

export type Script = readonly ScriptedReply[] | ((asked: ModelRequest, index: number) => ScriptedReply);

export interface ModelStandIn extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly ModelRequest[];
  /** `[models]` that routes every vendor to this server. */
  readonly models: ModelsConfig;
  /** Sets the script for later questions; its first reply answers the next question. */
  say(script: Script): void;
  /** Resolves with the request of this number, counted from 0, once it has arrived. */
  question(index: number): Promise<ModelRequest>;
  close(): Promise<void>;
}

const ROUTES: readonly (readonly [RegExp, Wire])[] = [
  [/^\/(?:openai|compatible)\/v1\/chat\/completions$/, openAiChat],
  [/^\/openai\/v1\/responses$/, openAiResponses],
  [/^\/mistral\/v1\/chat\/completions$/, mistral],
  [/^\/anthropic\/v1\/messages$/, anthropic],
  [/^\/google\/v1beta\/models\/[^/]+:(?:streamG|g)enerateContent$/, google],
];

export async function startModels(script: Script = []): Promise<ModelStandIn> {
  let [current, said] = [script, 0];
  const asked: ModelRequest[] = [];
  const waiting = new Map<number, (one: ModelRequest) => void>();
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0]!;
    const wire = ROUTES.find(([pattern]) => pattern.test(path))?.[1];
    const body = JSON.parse((await text(request)) || "{}") as Record<string, unknown>;
    if (!wire) return void response.writeHead(404).end(`nothing at ${path}`);
    const isStream = body["stream"] === true || path.includes(":stream");
    const one: ModelRequest = {
      path,
      headers: request.headers,
      body,
      isStream,
      left: new Promise((resolve) => response.on("close", () => response.writableFinished || resolve())),
    };
    asked.push(one);
    waiting.get(asked.length - 1)?.(one);
    const reply =
      typeof current === "function"
        ? current(one, said)
        : (current[said] ?? { status: 500, message: "the script is over" });
    said += 1;
    await send(response, wire, reply, one);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url,
    asked,
    models: modelsAt(url),
    say: (next) => void ([current, said] = [next, 0]),
    question: (index) =>
      asked[index] ? Promise.resolve(asked[index]) : new Promise((resolve) => waiting.set(index, resolve)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** `openai` uses the Responses API, `openai-chat` chat completions. */
export function modelsAt(url: string): ModelsConfig {
  const api_key = "stand-in-key";
  return {
    providers: {
      openai: { base_url: `${url}/openai/v1`, api_key },
      "openai-chat": { kind: "openai", base_url: `${url}/openai/v1`, api_key, api: "chat" },
      anthropic: { base_url: `${url}/anthropic/v1`, api_key },
      mistral: { base_url: `${url}/mistral/v1`, api_key },
      google: { base_url: `${url}/google/v1beta`, api_key },
      local: { base_url: `${url}/compatible/v1` },
    },
  };
}

// oxlint-disable-next-line complexity -- One line per way to answer.
async function send(
  response: ServerResponse,
  wire: Wire,
  reply: ScriptedReply,
  { body, isStream, path }: ModelRequest,
): Promise<void> {
  const model = typeof body["model"] === "string" ? body["model"] : path.split("/").at(-1)!.split(":", 1)[0]!;
  if (reply.status !== undefined) {
    // The clients wait as long as this header states.
    return void response
      .writeHead(reply.status, { "content-type": "application/json", "retry-after-ms": "1" })
      .end(JSON.stringify(wire.error(reply.status, reply.message ?? "scripted failure")));
  }
  if (!isStream) {
    if (reply.hangs) return;
    return void response
      .writeHead(200, { "content-type": "application/json" })
      .end(reply.broken ?? JSON.stringify(wire.whole(reply, model)));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  const events = wire.events(reply, model);
  for (const { event, data } of reply.hangs ? events.slice(0, -2) : events) {
    response.write(
      `${event === undefined ? "" : `event: ${event}\n`}data: ` +
        `${reply.broken ?? (typeof data === "string" ? data : JSON.stringify(data))}\n\n`,
    );
    await pause(0);
  }
  if (!reply.hangs) response.end();
}
