import { isJsonObject, type JsonObject, listMember, objectMember, stringMember } from "../../../core/json/json.ts";
import type { AdminOperation } from "../../../core/ports/admin-operations.ts";
import { inSlices } from "../../../core/timing/slices.ts";
import { sizeOfValue } from "../../../schema/value-size.ts";
import type { RestRoute } from "../options.ts";
import { typesOf } from "../query-arguments.ts";
import { adminPaths } from "./admin-paths.ts";
import { chatPath, HUB_OPERATIONS, hubPaths } from "./hub-paths.ts";
import { freeName, portableSchema, safeName } from "./portable-schema.ts";
import { ERROR_SCHEMA, errorResponses, failuresOf } from "./responses.ts";
import { firstChars } from "../../../core/text/truncate.ts";

export interface DocumentSource {
  readonly title: string;
  readonly version: string;
  /** Path below which `tools` and `resources` are served. */
  readonly basePath: string;
  /** Tools in their MCP form, as the caller's view lists them. */
  readonly tools: readonly JsonObject[];
  /** Configured paths, each with its tool if it leads to one. */
  readonly routes: readonly { readonly route: RestRoute; readonly tool?: JsonObject }[];
  readonly hasChat: boolean;
  /** Operations of the administration API. @default none */
  readonly admin?: readonly AdminOperation[];
  readonly isGuarded: boolean;
  /** Security schemes; a caller needs one of them. @default a bearer token */
  readonly securitySchemes?: Readonly<Record<string, JsonObject>> | undefined;
}

const TOKEN_SCHEMES = { token: { type: "http", scheme: "bearer", description: "A token of `[server]`." } };

/**
 * Creates the OpenAPI 3.1 document of one caller's view. The caller of this function adds `servers`, since it knows how
 * the hub is reached. The work is done in steps, so that many tools do not delay other requests.
 */
export async function createDocument(source: DocumentSource): Promise<JsonObject> {
  const writer = new DocumentWriter(source);
  await inSlices(writer.steps());
  return writer.write();
}

interface KnownTool {
  readonly name: string;
  readonly entry: JsonObject;
  readonly input: JsonObject;
  readonly inputRef: string;
  readonly outputRef?: string;
}

/**
 * Maximum number of objects, lists and values of one schema. A larger schema would delay other requests and is of no
 * use to a reader.
 */
const MAX_SCHEMA_PARTS = 10_000;
const TOO_LARGE = Object.freeze({
  type: "object",
  description: "The schema is too large to be shown here; the list of tools has it.",
});

class DocumentWriter {
  readonly #source: DocumentSource;
  readonly #schemas = new Map<string, unknown>([["Error", ERROR_SCHEMA]]);
  readonly #tools = new Map<string, KnownTool>();
  readonly #operations = new Set<string>(HUB_OPERATIONS);
  readonly #toolPaths: [string, JsonObject][] = [];

  constructor(source: DocumentSource) {
    this.#source = source;
  }

  /** Prepares one tool per step. All steps run before `write`. */
  *steps(): Generator<void, void> {
    for (const entry of this.#source.tools) {
      this.#toolPaths.push(this.#toolPath(this.#know(entry)));
      yield;
    }
  }

  write(): JsonObject {
    const { title, version, basePath, routes, hasChat, isGuarded, admin = [] } = this.#source;
    const { securitySchemes = TOKEN_SCHEMES } = this.#source;
    const paths = Object.fromEntries([
      ...hubPaths(basePath, isGuarded),
      ...(hasChat ? [chatPath(`${basePath}/chat`, isGuarded)] : []),
      ...this.#routePaths(routes),
      ...this.#toolPaths,
      ...adminPaths(admin, isGuarded),
    ]);
    return {
      openapi: "3.1.0",
      info: {
        title,
        version,
        description:
          "One POST request calls a tool. Values are JSON; failures are `{error: {kind, message, " +
          "…}}` with a status that depends on the kind of failure.",
      },
      paths,
      components: {
        schemas: Object.assign(Object.fromEntries(this.#schemas), ...admin.map(({ components }) => components)),
        responses: errorResponses(),
        ...(isGuarded ? { securitySchemes } : {}),
      },
      ...(isGuarded ? { security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })) } : {}),
      tags: [
        { name: "tools", description: "The tools." },
        ...(routes.length > 0 ? [{ name: "routes", description: "Configured paths to tools." }] : []),
        { name: "hub", description: "The hub itself." },
        ...(admin.length > 0 ? [{ name: "admin", description: "Administration, which the console uses." }] : []),
      ],
    };
  }

  #know(entry: JsonObject): KnownTool {
    const name = String(entry["name"]);
    const known = this.#tools.get(name);
    if (known) return known;
    const input = this.#schema(`${safeName(name)}.input`, entry["inputSchema"] ?? { type: "object" });
    const output = isJsonObject(entry["outputSchema"])
      ? this.#schema(`${safeName(name)}.output`, entry["outputSchema"])
      : undefined;
    const tool: KnownTool = {
      name,
      entry,
      input: isJsonObject(input.schema) ? input.schema : {},
      inputRef: input.ref,
      ...(output ? { outputRef: output.ref } : {}),
    };
    this.#tools.set(name, tool);
    return tool;
  }

  #schema(wanted: string, schema: unknown): { readonly ref: string; readonly schema: unknown } {
    const key = freeName(wanted, this.#schemas);
    const ref = `#/components/schemas/${key}`;
    const { items } = sizeOfValue(schema, MAX_SCHEMA_PARTS);
    const ported = items > MAX_SCHEMA_PARTS ? TOO_LARGE : portableSchema(schema, ref);
    this.#schemas.set(key, ported);
    return { ref, schema: ported };
  }

  #toolPath(tool: KnownTool): [string, JsonObject] {
    const { basePath } = this.#source;
    const full = {
      name: "full",
      in: "query",
      description: "`1`: the whole result in the form of MCP.",
      schema: { type: "string", enum: ["1"] },
    };
    const operation = {
      ...this.#words(tool, `call_${tool.name}`, "tools"),
      parameters: [full],
      ...this.#body(tool),
      responses: this.#responses(tool),
    };
    return [`${basePath}/tools/${encodeURIComponent(tool.name)}`, { post: operation }];
  }

  #routePaths(routes: DocumentSource["routes"]): [string, JsonObject][] {
    const { isGuarded } = this.#source;
    const paths = new Map<string, JsonObject>();
    for (const { route, tool } of routes) {
      const operation =
        route.target === "chat" ? chatPath(route.path, isGuarded)[1]["post"] : this.#routeOperation(route, tool);
      const operationId = this.#operationId(`${route.method.toLowerCase()}_${route.path}`);
      paths.set(route.path, {
        ...paths.get(route.path),
        [route.method.toLowerCase()]: { ...(operation as JsonObject), operationId, tags: ["routes"] },
      });
    }
    return [...paths];
  }

  #routeOperation({ method, target, fixed, description }: RestRoute, entry: JsonObject | undefined): JsonObject {
    const name = target === "chat" ? "" : target.tool;
    if (!entry)
      return {
        summary: `The tool ${name}, which is not available now.`,
        responses: { "200": anyValue(), ...failuresOf(this.#source.isGuarded) },
      };
    const tool = this.#know(entry);
    const isRead = method === "GET" || method === "DELETE";
    const words = {
      ...this.#words(tool, undefined, "routes"),
      ...(description === undefined ? {} : { summary: oneLine(description), description }),
    };
    return {
      ...words,
      ...(isRead ? { parameters: queryParameters(tool.input, fixed) } : this.#body(tool)),
      responses: this.#responses(tool),
    };
  }

  #words({ name, entry }: KnownTool, operation: string | undefined, tag: string): JsonObject {
    const description = stringMember(entry, "description") ?? "";
    const summary = stringMember(entry, "title") ?? (oneLine(description) || name);
    const id = operation === undefined ? {} : { operationId: this.#operationId(operation) };
    return { ...id, tags: [tag], summary, ...(description === "" ? {} : { description }), "x-tool": name };
  }

  #body({ input, inputRef }: KnownTool): JsonObject {
    const isRequired = Array.isArray(input["required"]) && input["required"].length > 0;
    return { requestBody: { required: isRequired, content: { "application/json": { schema: { $ref: inputRef } } } } };
  }

  #responses({ outputRef }: KnownTool): JsonObject {
    return {
      "200": outputRef === undefined ? anyValue() : anyValue({ $ref: outputRef }),
      ...failuresOf(this.#source.isGuarded),
    };
  }

  #operationId(wanted: string): string {
    const id = freeName(safeName(wanted).replaceAll(/[.-]/g, "_").replaceAll(/_+/g, "_"), this.#operations);
    this.#operations.add(id);
    return id;
  }
}

function anyValue(schema: JsonObject = {}): JsonObject {
  const events = {
    "text/event-stream": {
      schema: { type: "string", description: "Events `progress` and `log`, then `result` or `error`." },
    },
  };
  return { description: "The tool's value.", content: { "application/json": { schema }, ...events } };
}

/** Returns a tool's own parameters as query parameters. */
function queryParameters(input: JsonObject, fixed: JsonObject): JsonObject[] {
  const properties = objectMember(input, "properties") ?? {};
  const required = listMember(input, "required");
  return Object.entries(properties)
    .filter(([name]) => !Object.hasOwn(fixed, name))
    .map(([name, schema]) => {
      const description =
        isJsonObject(schema) && typeof schema["description"] === "string" ? { description: schema["description"] } : {};
      const isObject = typesOf(schema, input).has("object");
      return {
        name,
        in: "query",
        required: required.includes(name),
        ...description,
        ...(isObject ? { content: { "application/json": { schema } } } : { schema }),
      };
    });
}

/** Returns the first sentence or line of a text, for lists. */
function oneLine(text: string): string {
  const [line = ""] = text.trim().split(/\n|(?<=[.!?])\s/, 1);
  return line.length > MAX_SUMMARY ? `${firstChars(line, MAX_SUMMARY - 1)}…` : line;
}

const MAX_SUMMARY = 120;
