// Texts with content that a user does not see and a model reads. It is removed from prose; in values that are sent back
// to the source, the whole entry is withheld. Cases are named or from a seeded generator.
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { openTarget, openUpstream, say, tool, wordsOf, type Offers, type Target } from "./attack.ts";
import { runCommand } from "./command.ts";

const SEED = 55_443_322;
const CASES = 60;

/** Returns numbers below 1, the same on every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const next = randomFrom(SEED);
const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;

const ENGLAND = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
/** Ordinary text with the joiners and variation selectors that it needs. */
const SEEN = [
  "Reads a file",
  "größer",
  "\u2764\ufe0f",
  "1\ufe0f\u20e3",
  "\u{1f469}\u{1f3fd}\u200d\u{1f4bb}",
  "\u{1f3f3}\ufe0f\u200d\u{1f308}",
  "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
  "\u0915\u094d\u200d\u0937",
  "日本語",
] as const;
const RANGES: readonly (readonly [number, number])[] = [
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfe00, 0xfe0f],
  [0xe0000, 0xe007f],
  [0xe0100, 0xe01ef],
  [0xfff9, 0xfffb],
];
const SINGLE = [0xad, 0x34f, 0x61c, 0x115f, 0x180b, 0x3164, 0xfeff, 0xffa0, 0x1d173] as const;

function hidden(): string {
  const length = 1 + Math.floor(next() * 4);
  return Array.from({ length }, () => {
    if (next() < 0.3) return String.fromCodePoint(pick(SINGLE));
    const [from, to] = pick(RANGES);
    return String.fromCodePoint(from + Math.floor(next() * (to - from + 1)));
  }).join("");
}

/** A text with hidden characters between its words, and the expected visible text. */
function prose(): { readonly given: string; readonly shown: string } {
  const words = Array.from({ length: 1 + Math.floor(next() * 5) }, () => pick(SEEN));
  // The hidden text is between full stops, so that it cannot be part of a word.
  return {
    given: words.map((word) => `${word}.${hidden()}.`).join(""),
    shown: words.map((word) => `${word}..`).join(""),
  };
}

const closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of closing.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

async function targetOf(offers: Offers, settings: JsonObject = {}): Promise<Target> {
  const upstream = await openUpstream(offers);
  closing.push(upstream);
  const target = await openTarget({ mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] }, ...settings });
  closing.push(target);
  await target.hub.list();
  return target;
}

function problemsOf(target: Target): string {
  return JSON.stringify(target.hub.sources().flatMap(({ problems }) => problems));
}

describe("S12: prose", () => {
  test("S12: removes all hidden characters of descriptions, titles and instructions, and nothing else", async () => {
    const cases = Array.from({ length: CASES }, prose);
    const instructions = prose();
    const target = await targetOf({
      instructions: instructions.given,
      tools: cases.map(({ given }, at) => {
        const properties = { a: { type: "string", title: given, description: given, $comment: given } };
        return tool(`t${at}`, { title: given, description: given, inputSchema: { type: "object", properties } });
      }),
      resources: cases.map(({ given }, at) => ({ uri: `doc://${at}`, name: given, description: given })),
      templates: cases.map(({ given }, at) => ({ uriTemplate: `t${at}://{x}`, name: given, description: given })),
      prompts: cases.map(({ given }, at) => ({
        name: `p${at}`,
        title: given,
        arguments: [{ name: "x", description: given }],
      })),
    });
    const { hub } = target;
    const tools = new Map((await hub.list({ mode: "all" })).map((entry) => [entry["name"], entry]));
    const [resources, templates, prompts] = [
      await hub.listResources(),
      await hub.listResourceTemplates(),
      await hub.listPrompts(),
    ];
    for (const [at, { shown }] of cases.entries()) {
      const properties = { a: { type: "string", title: shown, description: shown, $comment: shown } };
      expect(tools.get(`up__t${at}`)).toMatchObject({ title: shown, description: shown, inputSchema: { properties } });
      expect(resources).toContainEqual(
        expect.objectContaining({ uri: `doc://${at}`, name: shown, description: shown }),
      );
      expect(templates).toContainEqual(expect.objectContaining({ uriTemplate: `t${at}://{x}`, name: shown }));
      expect(prompts).toContainEqual(
        expect.objectContaining({ name: `up__p${at}`, title: shown, arguments: [{ name: "x", description: shown }] }),
      );
    }
    for (const era of ["legacy", "modern"] as const)
      expect(JSON.stringify((await target.client(undefined, { era })).opening)).toContain(
        JSON.stringify(instructions.shown).slice(1, -1),
      );
    const found = await hub.search("größer", 100);
    for (const { description } of found.hits) expect(cases.map(({ shown }) => shown)).toContain(description);
  });
});

test("S12: removes control characters, line separators and floods of combining marks from prose", async () => {
  const evil = `a${UNREADABLE.join("")}b${FLOOD}c`;
  const shown = `a[2J\n1m\n\nb${"\u0301".repeat(10)}c`;
  const target = await targetOf({
    instructions: evil,
    tools: [tool("t", { title: evil, description: evil })],
    resources: [{ uri: "doc://a", name: evil, description: evil }],
    prompts: [{ name: "p", title: evil, arguments: [{ name: "x", description: evil }] }],
  });
  const openapi = await target.send({ method: "GET", path: "/openapi.json" });
  for (const era of ["legacy", "modern"] as const) {
    const client = await target.client(undefined, { era });
    const lists = await Promise.all(
      ["tools/list", "resources/list", "prompts/list"].map((method) => client.request(method)),
    );
    const text = JSON.stringify([client.opening, lists]);
    expect(text).toContain(JSON.stringify(shown).slice(1, -1));
    for (const given of [text, openapi.body])
      expect(given).not.toMatch(/[\u007f-\u009f\u2028\u2029]|\\u00[01]|\p{M}{11}/u);
  }
});

const PLACES: readonly (readonly [string, (text: string) => JsonObject])[] = [
  ["its name", (text) => ({ name: `t${text}` })],
  ["a property's name", (text) => schemaOf({ [`a${text}`]: { type: "string" } })],
  ["an enum", (text) => schemaOf({ a: { enum: ["pay", `pay${text}`] } })],
  ["a default", (text) => schemaOf({ a: { default: { deep: [`x${text}`] } } })],
  ["a const", (text) => schemaOf({ a: { const: text } })],
  ["an example", (text) => schemaOf({ a: { examples: [`e${text}`] } })],
  ["the description of a default", (text) => schemaOf({ a: { default: { description: `d${text}` } } })],
  ["a required name", (text) => ({ inputSchema: { type: "object", required: [`a${text}`] } })],
  ["a definition's name", (text) => ({ inputSchema: { type: "object", $defs: { [`d${text}`]: {} } } })],
  ["a pattern", (text) => schemaOf({ a: { pattern: `^${text}$` } })],
  ["its output", (text) => ({ outputSchema: { type: "object", properties: { [`o${text}`]: {} } } })],
];

function schemaOf(properties: JsonObject): JsonObject {
  return { inputSchema: { type: "object", properties } };
}

/** Terminal control characters, characters that end a line for some programs, and floods of combining marks. */
const UNREADABLE = ["\u0000", "\u0007", "\u001b[2J", "\u007f", "\u0085", "\u009b1m", "\u2028", "\u2029"];
const FLOOD = "\u0301".repeat(400);

describe("S12: names, choices and defaults", () => {
  test.each(PLACES.filter(([name]) => name !== "a pattern"))(
    "S12: withholds a tool with control characters or a flood of combining marks in %s",
    async (_name, make) => {
      const bad = [...UNREADABLE, `x${FLOOD}`].map((text, at) => tool(`bad${at}`, make(text)));
      const { hub, ...target } = await targetOf({ tools: [tool("good"), ...bad] });
      const names = (await hub.list({ mode: "all" })).map(({ name }) => String(name));
      expect(names.filter((name) => name.startsWith("up__"))).toEqual(["up__good"]);
      expect(problemsOf({ hub, ...target })).toContain("not offered");
    },
  );

  test("S12: a pattern can contain control characters, and choices line breaks and tabs", async () => {
    const properties = { a: { pattern: "^[^\u0000-\u001f]*$" }, b: { enum: ["\t", "\r\n"], default: "\n" } };
    const { hub } = await targetOf({ tools: [tool("good", schemaOf(properties))] });
    const [entry] = (await hub.list({ mode: "all" })).filter(({ name }) => name === "up__good");
    expect(entry).toMatchObject({ inputSchema: { properties } });
  });

  test.each(PLACES)("S12: withholds a tool that hides text in %s, and reports a problem", async (_name, make) => {
    const hiding = Array.from({ length: 12 }, (_, at) => tool(`bad${at}`, make(hidden())));
    const { hub, ...target } = await targetOf({ tools: [tool("good"), ...hiding] });
    const names = (await hub.list({ mode: "all" })).map(({ name }) => String(name));
    expect(names.filter((name) => name.startsWith("up__"))).toEqual(["up__good"]);
    expect((await hub.call("up__bad0")).ok).toBe(false);
    expect(problemsOf({ hub, ...target })).toMatch(/bad3|"t"|subject":"t/);
    expect(problemsOf({ hub, ...target })).toContain("not offered");
  });

  test("S12: keeps emoji and joiners unchanged", async () => {
    const properties = Object.fromEntries(SEEN.map((word) => [word, { enum: [word], default: word }]));
    const { hub } = await targetOf({ tools: [tool("good", schemaOf(properties))] });
    const [entry] = (await hub.list({ mode: "all" })).filter(({ name }) => name === "up__good");
    expect(entry).toMatchObject({ inputSchema: { properties } });
  });

  test("S12: withholds a prompt with hidden text in an argument's name, and a resource in its URI", async () => {
    const { hub } = await targetOf({
      resources: [
        { uri: "doc://a\u200b", name: "a" },
        { uri: "doc://b", name: "b" },
      ],
      prompts: [
        { name: "bad", arguments: [{ name: "x\u{e0041}" }] },
        { name: "good", arguments: [{ name: "x" }] },
      ],
    });
    expect((await hub.listPrompts()).map(({ name }) => name)).toEqual(["up__good"]);
    expect((await hub.listResources()).map(({ uri }) => uri)).toEqual(["doc://b"]);
  });
});

describe("S12: hidden text in results", () => {
  const SPOKEN = `a\u{e0041}\u{e0042}b ${ENGLAND} \u200b\u202e\u001b[31m\u2764\ufe0f`;
  const HEARD = `ab ${ENGLAND} \u200b\u202e\u001b[31m\u2764\ufe0f`;

  test.each(["legacy", "modern"] as const)(
    "S12: removes tag characters outside of flags over MCP (%s), and nothing else",
    async (era) => {
      const target = await targetOf({
        tools: [tool("t")],
        resources: [{ uri: "doc://a", name: "a" }],
        prompts: [{ name: "p" }],
        answer: (method) => {
          if (method === "tools/call")
            return { result: { ...say(SPOKEN), structuredContent: { deep: [SPOKEN] }, isError: false } };
          if (method === "resources/read") return { result: { contents: [{ uri: "doc://a", text: SPOKEN }] } };
          if (method === "prompts/get") return { error: { code: -32603, message: SPOKEN } };
          return undefined;
        },
      });
      const client = await target.client(undefined, { era });
      const called = await client.request("tools/call", { name: "up__t", arguments: {} });
      expect(wordsOf(called)).toBe(HEARD);
      expect(called["result"]).toMatchObject({ structuredContent: { deep: [HEARD] } });
      expect(await client.request("resources/read", { uri: "doc://a" })).toMatchObject({
        result: { contents: [{ text: HEARD }] },
      });
      expect(wordsOf(await client.request("prompts/get", { name: "up__p" }))).not.toMatch(/\u{e0041}/u);
    },
  );
});

/** Terminal control characters, and characters that change the writing direction. */
const UNSAFE = /(?!\n)\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const EVIL = "\u001b]0;owned\u0007\u001b[2J\u009b1m\u202eturned\u2066\u200f\u061c";

describe("S12: the hub's own terminal and pages", () => {
  test("S12: neither the status nor the page of the tools contains bidi controls or terminal sequences", async () => {
    const target = await targetOf({
      tools: [tool("t", { description: EVIL, inputSchema: { type: "object", properties: { a: { default: EVIL } } } })],
      answer: (method) => (method === "resources/list" ? { error: { code: -32603, message: EVIL } } : undefined),
    });
    for (const path of ["/status", "/docs"]) {
      const { status, body } = await target.send({ method: "GET", path });
      expect(status).toBe(200);
      expect(body.replaceAll(/[\t\r]/g, ""), path).not.toMatch(UNSAFE);
    }
    expect((await target.log()).replaceAll(/[\t\r]/g, "")).not.toMatch(UNSAFE);
  });

  test("S12: prints texts of files and servers without control sequences", async () => {
    using folder = new ToolFolder();
    const broken = folder.write("toolyard.toml", `[server]\n"por\u202et" = 1\n[evil]\n"\u009b2J" = 1\n`);
    const missing = `${folder.path}/no\u001b[31mfile\u202e.toml`;
    const wrong = [
      ["list", "--config", broken],
      ["check", "--config", missing],
      ["call", "a\u001b[2J\u202e"],
      ["config", "--config", broken, "--json"],
    ];
    for (const words of wrong) {
      const env = { TOOLYARD_HOME: folder.path, PATH: process.env["PATH"] ?? "", TERM: "xterm" };
      const { stdout, stderr } = await runCommand(words, env, { isTerminal: true });
      expect(stdout + stderr, words.join(" ")).not.toBe("");
      expect(stdout + stderr, JSON.stringify(words)).not.toMatch(UNSAFE);
    }
  });
});
