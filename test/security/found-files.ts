// Random configuration files, generated from a seed, that an attacker might leave in a folder. They have all supported
// formats. Each comes with a list of the programs, files and requests that it would cause.
import { stringify } from "smol-toml";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Random } from "../support/random.ts";

export interface FoundFile {
  /** Name of the file that `toolyard.toml` is or links to. */
  readonly name: string;
  readonly text: string;
  /** Texts that must be reported, one for each started program. */
  readonly starts: readonly string[];
}

/** One entry that a file may contain, as a tree with the keys of `toolyard.toml`. */
interface Part {
  readonly tree: JsonObject;
  readonly starts?: string;
}

let serial = 0;

/** Returns a word that occurs once. */
function word(): string {
  return `w${(serial += 1)}w`;
}

/** Returns a reference to a value of this machine, in one of its forms. */
const taken = (random: Random): string =>
  random.pick<string>(["${NAME}", "Bearer ${NAME:-none}", "${env:NAME}", "a${NAME}b"]);

const remote = (entry: JsonObject): JsonObject => ({ mcp: { remote_servers: [{ namespace: word(), ...entry }] } });

const STARTING: readonly ((random: Random) => Part)[] = [
  (random) => server(random, {}),
  (random) => server(random, { enabled: true }),
  () => {
    const paths = [word()];
    return { tree: { modules: { paths } }, starts: paths[0]! };
  },
  () => {
    const tools_path = word();
    return { tree: { folders: { tools_path } }, starts: tools_path };
  },
  (random) => {
    const tools_path = word();
    return { tree: { [random.pick(["scripts", "scriptling"])]: { tools_path } }, starts: tools_path };
  },
  (random) => {
    const program = word();
    return { tree: { sandbox: { [random.pick(["python", "deno", "python_wasm"])]: program } }, starts: program };
  },
  () => {
    const dir = word();
    return { tree: { bindings: { dir } }, starts: dir };
  },
  (random) => {
    const file = `${word()}.log`;
    return { tree: { [random.pick(["logging", "audit"])]: { file } }, starts: file };
  },
  (random) => {
    const host = `${word()}.test`;
    const way = random.pick<(text: string) => JsonObject>([
      (token) => ({ token }),
      (value) => ({ headers: { "X-Some": value } }),
      (value) => ({ auth: { type: "bearer", token: value } }),
      () => ({ headers: { "X-Some": { file: "secret.txt" } } }),
      () => ({ proxy: "http://proxy.test:3128" }),
      () => ({ ca: "ca.pem" }),
    ]);
    const entry = way(taken(random));
    const place = random.pick<JsonObject>([{ url: `https://${host}/mcp` }, { host }]);
    const starts = "proxy" in entry ? "http://proxy.test:3128" : "ca" in entry ? "ca.pem" : host;
    return { tree: remote({ ...place, ...entry }), starts };
  },
  (random) => {
    const host = `${word()}.test`;
    return { tree: remote({ url: `https://${host}/mcp?key=${taken(random)}` }), starts: host };
  },
  (random) => {
    const host = `${word()}.test`;
    const name = random.pick(["openai", "anthropic", "mine"]);
    const entry = { base_url: `https://${host}/v1`, ...random.pick<JsonObject>([{}, { api_key: taken(random) }]) };
    return { tree: { models: { providers: { [name]: entry } } }, starts: host };
  },
  () => {
    const host = `${word()}.test`;
    return { tree: { web_search: { base_url: `https://${host}/` } }, starts: host };
  },
  () => {
    const root = word();
    return { tree: { default_tools: { enable: ["file_writer"], file_roots: [root] } }, starts: root };
  },
  (random) => {
    const root = word();
    return { tree: { [random.pick(["gnn", "library"])]: { roots: [root] } }, starts: root };
  },
  (random) => {
    const host = `${word()}.test`;
    return { tree: { library: { store: `postgres://me:${taken(random)}@${host}/books` } }, starts: host };
  },
];

const HARMLESS: readonly ((random: Random) => Part)[] = [
  (random) => ({ tree: server(random, { enabled: false }).tree }),
  () => ({ tree: { limits: { rate_per_minute: 7 } } }),
  () => ({ tree: { server: { port: 0 } } }),
  () => ({ tree: { search: { mode: "words" } } }),
  () => ({ tree: remote({ url: "http://127.0.0.1:9/mcp" }) }),
  () => ({ tree: remote({ url: "http://127.0.0.1:9/mcp", token: "$${NOTHING}", headers: { "X-Some": "literal" } }) }),
  () => ({ tree: remote({ url: "http://127.0.0.1:9/mcp", enabled: false, token: "${NAME}" }) }),
  () => ({ tree: { logging: { level: "debug" }, audit: { stderr: true } } }),
  () => ({ tree: { models: { language: "mistral/mistral-large-latest" } } }),
  () => ({ tree: { web_search: { safe_search: "strict" } } }),
];

function server(random: Random, more: JsonObject): Part {
  const program = word();
  const told = random.pick([program, `${program}\n[mcp.stdio_servers.fine] ls`, `${program}\u001b[2K\r`]);
  const command = random.pick<unknown>([told, [told], [told, "-x"]]);
  return { tree: { mcp: { stdio_servers: { [`s-${word()}`]: { command, ...more } } } }, starts: program };
}

export function randomFound(random: Random, isHarmless: boolean): FoundFile {
  const parts = Array.from({ length: 1 + random.below(4) }, () => random.pick(HARMLESS)(random));
  if (!isHarmless) parts.splice(random.below(parts.length + 1), 0, random.pick(STARTING)(random));
  let tree: JsonObject = {};
  const starts: string[] = [];
  for (const part of parts) {
    tree = joined(tree, part.tree);
    if (part.starts !== undefined) starts.push(part.starts);
  }
  const isJson = random.pick([true, false, false]);
  const plain = isJson ? JSON.stringify(tree, null, random.pick([0, 2])) : written(tree, random);
  const mark = random.pick(["", "", "\uFEFF"]);
  const ended = random.pick([true, false]) ? plain : plain.replaceAll("\n", "\r\n");
  // The target of a link can have any name; the name of the link decides the format.
  const name = random.pick(["toolyard.toml", "toolyard.toml", "other.toml", isJson ? "x.json" : "x.JSON", "x.txt"]);
  return { name, text: mark + ended, starts };
}

function joined(one: JsonObject, other: JsonObject): JsonObject {
  const both: JsonObject = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const there = both[key];
    if (Array.isArray(there) && Array.isArray(value)) both[key] = [...there, ...value];
    else if (isTable(there) && isTable(value)) both[key] = joined(there, value);
    else both[key] = value;
  }
  return both;
}

function isTable(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Writes TOML in one of its forms: tables with headers, inline, or dotted and quoted keys. */
function written(tree: JsonObject, random: Random): string {
  const way = random.below(3);
  if (way === 0) return stringify(tree);
  const lines = Object.entries(tree).flatMap(([key, value]) => {
    if (!isTable(value)) return [`${keyOf(key, random)} = ${inline(value)}`];
    if (way === 1) return [`${keyOf(key, random)} = ${inline(value)}`];
    return Object.entries(value).map(
      ([inner, member]) => `${keyOf(key, random)} . ${keyOf(inner, random)} = ${inline(member)}`,
    );
  });
  return `${lines.join("\n")}\n`;
}

/** Writes a key bare, in quotes, or with one letter escaped. */
function keyOf(key: string, random: Random): string {
  const escaped = `\\u${key.codePointAt(0)!.toString(16).padStart(4, "0")}${key.slice(1)}`;
  return random.pick([key, `"${key}"`, `'${key}'`, `"${escaped}"`]);
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isTable(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)} = ${inline(member)}`)
    .join(", ")} }`;
}
