// "What did Peirce say about nominalism?" The example creates books, reads them (one of them by OCR), lets a model
// search them and quote them with their pages, and checks every quotation. The model is a script with Mistral's API; if
// MISTRAL_API_KEY is set, it is Mistral.
//
// ```sh
// npm run build && node --import ./packages/toolyard/dist/runtimes/typescript/register.js examples/library/start.ts
// ```
import assert from "node:assert/strict";
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHub } from "toolyard";
import { createAgent } from "toolyard/agent";
import { makeBooks } from "./make-books.ts";
import { startMistral } from "./mistral.ts";

const home = await realpath(await mkdtemp(join(tmpdir(), "toolyard-library-")));
const books = join(home, "books");
const scanned = await makeBooks(books);
for (const essay of ["essai-nominalisme.md", "essai-roscelin-abelard.md", "essay-three-nominalists.md"])
  await cp(fileURLToPath(new URL(`texts/${essay}`, import.meta.url)), join(books, essay));
const key = process.env["MISTRAL_API_KEY"];
const scripted = await startMistral(scanned);
const url = key ? "https://api.mistral.ai" : scripted.url;
// The library is a separate process, which the hub starts at its first use with these variables.
Object.assign(process.env, {
  TOOLYARD_HOME: home,
  LIBRARY_MISTRAL_URL: url,
  MISTRAL_API_KEY: key ?? "scripted",
});

const hub = await createHub({
  settings: {
    services: { library: true },
    library: { roots: [books], ocr: "mistral" },
    builtin: { execute_code: false },
    logging: { level: "error" },
  },
});
try {
  const added = valueOf(await hub.call("add_documents", { paths: [books] })) as { sources: AddedSource[] };
  for (const { source, status, cost_ocr: cost = 0 } of added.sources)
    console.log(`${status.padEnd(8)} ${source.slice(books.length + 1)}${cost > 0 ? ` (OCR: ${cost})` : ""}`);
  assert.ok(added.sources.every(({ status }) => status === "added"));

  // The call of the document, as any client makes it.
  const call = { query: "What is nominalism?", limit: 5, author_filter: "Charles Sanders Peirce" };
  const { results } = valueOf(await hub.call("search_chunks", call)) as { results: Passage[] };
  assert.ok(results.length > 0 && results.length <= 5);
  assert.ok(results.every(({ work_author: author, similarity }) => /Peirce/.test(author) && similarity >= 0));

  // A question in French finds a passage by a French author; the words that it quotes are in that passage.
  const french = { query: "Qu’est-ce que le nominalisme ?", limit: 10, author_filter: "Littré" };
  const articles = valueOf(await hub.call("search_chunks", french)) as { results: Passage[] };
  const [sentence = ""] = articles.results.flatMap(({ text }) => /Système dans lequel[^;]*/.exec(text) ?? []);
  const { found, places } = valueOf(await hub.call("find_text", { quote: sentence })) as QuoteCheck;
  assert.ok(found);
  console.log(`${sentence.trim()} (${places[0]!.citation})`);

  const models = { providers: { mistral: { base_url: `${url}/v1` } } };
  const agent = createAgent({ model: "mistral/mistral-large-latest", hub, models });
  const { text, steps } = await agent.chat("What did Peirce say about nominalism? Quote him, with the pages.");
  console.log(text);

  const quotes = Array.from(text.matchAll(/"([^"]+)" \((.+)\)/g));
  assert.ok(key || quotes.length >= 2, "It quotes.");
  for (const [, quote, citation] of quotes) {
    const checked = valueOf(await hub.call("find_text", { quote })) as QuoteCheck;
    assert.ok(checked.found, `Found in the library: ${quote}`);
    if (!key) assert.ok(checked.places.some((place) => place.citation === citation && /p\. \d/.test(citation!)));
  }
  console.log(`${quotes.length} quotations confirmed, ${steps.flatMap(({ calls }) => calls).length} calls of tools`);
} finally {
  await hub.close();
  await scripted[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
}

interface AddedSource {
  readonly source: string;
  readonly status: string;
  readonly cost_ocr?: number;
}
interface Passage {
  readonly text: string;
  readonly work_author: string;
  readonly similarity: number;
}
interface QuoteCheck {
  readonly found: boolean;
  readonly places: readonly { readonly citation: string }[];
}

function valueOf(outcome: Awaited<ReturnType<typeof hub.call>>): unknown {
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
  return (outcome.result as { structuredContent?: unknown }).structuredContent;
}
