import { stringifyExact } from "../../../core/json/exact-json.ts";
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, listMember, objectMember, stringMember } from "../../../core/json/json.ts";
import { shellWord } from "../../../core/text/shell-word.ts";
import { describeSchema } from "../../../schema/describe-schema.ts";
import { localTarget } from "../../../schema/local-target.ts";
import { html, Html } from "../../html.ts";
import { PAGE_STYLE } from "./page-style.ts";
import { sampleOf } from "../../../schema/sample.ts";

/** Part of the document that the page shows. */
export interface DocumentPageOptions {
  /** Text that the page requires in the path or description of each operation that it shows. */
  readonly filter: string;
  /** Page number; the first page is 1. */
  readonly page: number;
}

/** Number of operations per page. */
const PAGE_SIZE = 100;

/** Content security policy: no scripts, no external content, and only the style of this page. */
export const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(PAGE_STYLE).digest("base64")}'; ` +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Renders the document as a page without scripts. `baseUrl` is the address at which the reader reaches this hub. */
export function renderPage(document: JsonObject, baseUrl: string, { filter, page }: DocumentPageOptions): string {
  const all = operationsOf(document);
  const found = all.filter((one) => one.words.includes(filter.toLowerCase()));
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const at = Math.min(Math.max(1, page), pages);
  const shown = found.slice((at - 1) * PAGE_SIZE, at * PAGE_SIZE);
  const title = stringMember(document["info"] as JsonObject, "title") ?? "";
  const groups = [...new Set(shown.map(({ tag }) => tag))].map((tag) => {
    const sections = shown.filter((one) => one.tag === tag).map((one) => section(one, document, baseUrl));
    return html`<h2>${TITLES[tag] ?? tag}</h2>${sections}`;
  });
  const description = stringMember(document["info"] as JsonObject, "description");
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}: REST</title><style>${new Html(PAGE_STYLE)}</style></head><body>
<h1>${title}</h1><p class="dim">${description} <a href="openapi.json">openapi.json</a></p>
<form role="search"><input type="search" name="filter" value="${filter}" placeholder="Filter by name or words"
 aria-label="Filter"><button>Filter</button></form>
<main>${groups}${found.length === 0 ? html`<p>No operation contains these words.</p>` : ""}</main>
${pager(at, pages, filter)}
</body></html>`.text;
}

const TITLES: Readonly<Record<string, string>> = {
  tools: "Tools",
  routes: "Routes",
  hub: "The hub",
  admin: "Administration",
};
const TAG_ORDER = ["routes", "tools", "hub", "admin"];
const METHODS = ["get", "post", "put", "patch", "delete"];

interface PageOperation {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly operation: JsonObject;
  /** Text of the operation that is compared with the filter. */
  readonly words: string;
}

function operationsOf({ paths }: JsonObject): PageOperation[] {
  const all = Object.entries(paths as JsonObject).flatMap(([path, item]) =>
    METHODS.flatMap((method): PageOperation[] => {
      const operation = (item as JsonObject)[method];
      if (!isJsonObject(operation)) return [];
      const [tag = "hub"] = operation["tags"] as readonly string[];
      const words = [path, operation["summary"], operation["description"], operation["x-tool"]].join(" ").toLowerCase();
      return [{ method, path, tag, operation, words }];
    }),
  );
  return all.toSorted((a, b) => TAG_ORDER.indexOf(a.tag) - TAG_ORDER.indexOf(b.tag));
}

function section({ method, path, operation }: PageOperation, document: JsonObject, baseUrl: string): Html {
  const body = bodySchema(operation);
  const description = stringMember(operation, "description");
  const failures = Object.keys(operation["responses"] as JsonObject).filter((status) => status !== "200");
  const words = description === undefined ? "" : html`<p class="words">${description}</p>`;
  const summary = stringMember(operation, "summary");
  return html`<details><summary>
<span class="verb">${method.toUpperCase()}</span><code>${path}</code><span class="dim">${summary}</span>
</summary><div class="body">
${words}${parameterTable(operation, body, document)}
<h3>Try it</h3><pre>${curlLine({ method, path, operation, body }, document, baseUrl)}</pre>
<p class="dim">Gives ${valueText(operation, document)}. Failures: ${failures.join(", ")}.</p></div></details>`;
}

function bodySchema(operation: JsonObject): unknown {
  const content = (operation["requestBody"] as { content?: JsonObject } | undefined)?.content?.["application/json"];
  return isJsonObject(content) ? content["schema"] : undefined;
}

function valueText({ responses }: JsonObject, document: JsonObject): string {
  const answer = (responses as JsonObject)["200"] as { content?: { "application/json"?: { schema?: unknown } } };
  return describeSchema(follow(answer.content?.["application/json"]?.schema ?? {}, document), document);
}

function parameterTable(operation: JsonObject, body: unknown, document: JsonObject): Html | "" {
  const parameters = listMember(operation, "parameters").filter(isJsonObject);
  const own = follow(body, document);
  const properties = objectMember(own, "properties") ?? {};
  const required = listMember(own, "required");
  const rows = [
    ...Object.entries(properties).map(([name, schema]) =>
      row({ name, isRequired: required.includes(name), schema }, document),
    ),
    ...parameters.map((one) =>
      row(
        {
          name: `?${String(one["name"])}`,
          isRequired: one["required"] === true,
          schema: one["schema"] ?? {},
          words: stringMember(one, "description"),
        },
        document,
      ),
    ),
  ];
  return rows.length === 0
    ? ""
    : html`<div class="wide"><table><tr><th>name</th><th>takes</th><th></th></tr>${rows}</table></div>`;
}

/** A parameter of a request. */
interface PageParameter {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: unknown;
  /** Description that is shown. @default the description in the schema */
  readonly words?: string | undefined;
}

function row({ name, isRequired, schema, words }: PageParameter, document: JsonObject): Html {
  const description = words ?? stringMember(follow(schema, document), "description") ?? "";
  const required = isRequired ? html` <span class="dim">required</span>` : "";
  const takes = describeSchema(schema, document);
  return html`<tr><td><code>${name}</code>${required}</td><td>${takes}</td><td class="words">${description}</td></tr>`;
}

function follow(schema: unknown, document: JsonObject): JsonObject {
  if (!isJsonObject(schema)) return {};
  return typeof schema["$ref"] === "string" ? (localTarget(schema["$ref"], document) ?? {}) : schema;
}

/** Formats a curl command that works as soon as the reader has filled in the values. */
function curlLine(
  { method, path, operation, body }: { method: string; path: string; operation: JsonObject; body: unknown },
  document: JsonObject,
  baseUrl: string,
): string {
  const needsToken = Array.isArray(document["security"]) && operation["security"] === undefined;
  const token = needsToken ? [`-H "authorization: Bearer $TOOLYARD_TOKEN"`] : [];
  const verb = method === "get" || (method === "post" && body !== undefined) ? [] : [`-X ${method.toUpperCase()}`];
  const data =
    body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d ${shellWord(stringifyExact(sampleOf(body, document)))}`];
  return ["curl", ...verb, shellWord(`${baseUrl}${path}${sampleQuery(operation, document)}`), ...token, ...data].join(
    " ",
  );
}

function sampleQuery(operation: JsonObject, document: JsonObject): string {
  const parameters = listMember(operation, "parameters").filter(isJsonObject);
  const wanted = parameters.filter((one) => one["required"] === true && one["in"] === "query");
  const pairs = wanted.map((one): [string, string] => [
    String(one["name"]),
    textOf(sampleOf(one["schema"] ?? {}, document)),
  ]);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : stringifyExact(value);
}

function pager(at: number, pages: number, filter: string): Html | "" {
  if (pages === 1) return "";
  const link = (to: number, words: string): Html =>
    html`<a href="?${new URLSearchParams({ filter, page: String(to) }).toString()}">${words}</a> `;
  const before = at > 1 ? link(at - 1, "Before") : "";
  const next = at < pages ? link(at + 1, "Next") : "";
  return html`<nav>${before}Page ${at} of ${pages} ${next}</nav>`;
}
