// Implements Mistral's HTTP API for chat and OCR with scripted answers, so that the example runs without a key. Its
// quotations are from the results of the tools.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface Message {
  readonly role: string;
  readonly content?: unknown;
}
interface Passage {
  readonly text: string;
}

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** Requested paths, in order. */
  readonly asked: readonly string[];
}

/** `scanned` is the text of the scanned page. */
export async function startMistral(scanned: string): Promise<ScriptedServer> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { readonly messages?: readonly Message[]; readonly pages?: number[] };
    asked.push(request.url ?? "");
    const isOcr = request.url === "/v1/ocr";
    const answer = isOcr ? readPages(body.pages ?? [], scanned) : reply(body.messages ?? []);
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function readPages(pages: readonly number[], markdown: string): object {
  const read = pages.map((index) => ({ index, markdown, images: [], dimensions: null }));
  return { pages: read, model: "mistral-ocr-latest", usage_info: { pages_processed: pages.length } };
}

/** The document's question, and a second wording, since authors use different words. */
const QUERIES = ["What is nominalism?", "nominalistic maxims and prepossessions, a nominalistic way to regard ideas"];

/** Searches first, then checks the quotations, then answers. */
function reply(messages: readonly Message[]): object {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.parse(textOf(content)));
  const query = QUERIES[results.length];
  if (query !== undefined)
    return calling("search_chunks", [{ query, limit: 5, author_filter: "Charles Sanders Peirce" }]);
  const found = results.slice(0, QUERIES.length) as { readonly results: readonly Passage[] }[];
  const texts = new Set(found.flatMap(({ results: passages }) => passages.map(({ text }) => text)));
  const quotes = Array.from(texts).flatMap((text) => /[A-Z][^.!?]*nominalis[^.!?]*[.!?]/.exec(text)?.[0] ?? []);
  const checked = results.slice(QUERIES.length) as { found: boolean; places: { text: string; citation: string }[] }[];
  if (checked.length < quotes.length)
    return calling(
      "find_text",
      quotes.map((quote) => ({ quote })),
    );
  const lines = checked
    .filter((one) => one.found)
    .map(({ places: [place] }) => `"${place!.text}" (${place!.citation})`);
  return whole({ role: "assistant", content: `Peirce on nominalism:\n${lines.join("\n")}` }, "stop");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("");
}

let calls = 0;

/** Returns a reply with several calls, which are made concurrently. */
function calling(name: string, all: readonly object[]): object {
  const toolCalls = all.map((args) => {
    calls += 1;
    const id = `call${String(calls).padStart(5, "0")}`;
    return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  });
  return whole({ role: "assistant", content: "", tool_calls: toolCalls }, "tool_calls");
}

function whole(message: object, finish: string): object {
  const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
  const choices = [{ index: 0, message, finish_reason: finish }];
  return { id: "1", object: "chat.completion", created: 1, model: "mistral-large-latest", choices, usage };
}
