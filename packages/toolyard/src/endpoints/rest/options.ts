import type { ToolNameStyle } from "../../core/calls/call.ts";
import { OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";

const RouteSchema = Type.Object({
  tool: Type.Optional(
    Type.String({ description: "The tool that answers, in any spelling of its name.", minLength: 1 }),
  ),
  chat: Type.Optional(
    Type.Boolean({ description: "True if the agent answers, as at `/api/chat`. Instead of `tool`.", default: false }),
  ),
  arguments: Type.Optional(
    Type.Object(
      {},
      {
        description: "Arguments that are sent with every request.",
        additionalProperties: true,
        default: {},
      },
    ),
  ),
  description: Type.Optional(
    Type.String({ description: "Description in `/openapi.json` and `/docs`. Default: the tool's description." }),
  ),
});

/** Schema of `[rest]`: plain HTTP access to the tools. */
export const RestSchema = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ description: "Serves REST on the HTTP endpoint.", default: true })),
    base_path: Type.Optional(
      Type.String({
        description: "Path of `tools`, `resources` and `chat`, below `server.base_path`.",
        default: "/api",
      }),
    ),
    openapi: Type.Optional(
      Type.Boolean({
        description: "Serves the OpenAPI document at `/openapi.json` and a web page at `/docs`.",
        default: true,
      }),
    ),
    tool_names: Type.Optional(
      Type.Enum(["mcp", "model"], {
        description:
          "The form of tool names in responses and in `/openapi.json` for requests without `?tool_names=` and " +
          "`X-MCP-Tool-Names`. `model`: without a dot and of at most 64 characters, as model APIs accept them. " +
          "`mcp`: as MCP lists them. Calls accept both.",
        default: "model",
      }),
    ),
    routes: Type.Optional(
      Type.Record(Type.Union([Type.String({ description: "The tool's name.", minLength: 1 }), RouteSchema]), {
        description:
          'Further paths to tools: `"GET /weather/get" = "get_weather"`. ' +
          "GET and DELETE take arguments from the query, the others from a JSON body.",
        default: {},
      }),
    ),
  },
  { description: "REST: each tool is called by one POST request." },
);
export type RestConfig = Static<typeof RestSchema>;

const ROUTE_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type RouteMethod = (typeof ROUTE_METHODS)[number];

/** Path that the operator configured. */
export interface RestRoute {
  readonly method: RouteMethod;
  /** Path below the server's base path. */
  readonly path: string;
  /** Target of the path: a tool, or the agent. */
  readonly target: { readonly tool: string } | "chat";
  readonly fixed: JsonObject;
  readonly description?: string;
}

export interface RestOptions {
  readonly enabled: boolean;
  /** Path with a leading and without a trailing slash. */
  readonly basePath: string;
  readonly hasDescription: boolean;
  readonly toolNames: ToolNameStyle;
  readonly routes: readonly RestRoute[];
}

/**
 * Applies the defaults. Throws an `OptionError` that names the path or route that cannot be served. `taken`: paths that
 * other endpoints always serve.
 */
export function resolveRest(raw: RestConfig = {}, taken: readonly string[] = []): RestOptions {
  const { enabled, base_path, openapi, tool_names: toolNames, routes } = readOptions(RestSchema, raw, "rest.");
  const basePath = base_path.replace(/(?<!\/)\/+$/, "");
  const isTaken = (path: string): boolean => taken.some((one) => isBelow(one, path));
  if (!PATH.test(basePath) || isTaken(basePath))
    throw new OptionError(
      `\`rest.base_path\` must be a path that no endpoint serves, such as "/api", got ${JSON.stringify(base_path)}.`,
    );
  const resolved = Object.entries(routes).map(([line, raw]) =>
    resolveRoute(line, raw, (path) => isTaken(path) || isBelow(basePath, path)),
  );
  const names = resolved.map(({ method, path }) => `${method} ${path}`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new OptionError(`\`rest.routes\`: ${twice} is there twice.`);
  return Object.freeze({ enabled, basePath, hasDescription: openapi, toolNames, routes: Object.freeze(resolved) });
}

/** Path of letters, digits and characters that need no escape. */
const PATH = /^(\/[A-Za-z0-9._~-]+)+$/;
function isBelow(base: string, path: string): boolean {
  return path === base || path.startsWith(`${base}/`);
}

type RouteConfig = Static<typeof RouteSchema>;

function resolveRoute(line: string, raw: string | RouteConfig, isServed: (path: string) => boolean): RestRoute {
  const where = `\`rest.routes."${line}"\``;
  const { method, path } = readRouteLine(line, where);
  if (isServed(path)) throw new OptionError(`${where}: ${path} is served already. Choose another path.`);
  const route = readOptions(RouteSchema, typeof raw === "string" ? { tool: raw } : raw);
  const { tool, chat, arguments: fixed, description } = route;
  if ((tool === undefined) !== chat) throw new OptionError(`${where} needs either \`tool\` or \`chat = true\`.`);
  if (chat && (method !== "POST" || Object.keys(fixed).length > 0))
    throw new OptionError(`${where}: \`chat\` is for POST, and takes no \`arguments\`.`);
  return Object.freeze({
    method,
    path,
    target: tool === undefined ? "chat" : { tool },
    fixed: { ...fixed },
    ...(description === undefined ? {} : { description }),
  });
}

/** Reads a line such as `GET /weather/get`. */
function readRouteLine(line: string, where: string): Pick<RestRoute, "method" | "path"> {
  const [, word = "", given = ""] = /^\s*([A-Za-z]+)\s+(\S+)\s*$/.exec(line) ?? [];
  const method = ROUTE_METHODS.find((known) => known === word.toUpperCase());
  const path = given.length > 1 ? given.replace(/\/$/, "") : given;
  if (method && PATH.test(path)) return { method, path };
  throw new OptionError(
    `${where} must be a method (${ROUTE_METHODS.join(", ")}) and a path of plain letters, such as "GET ` +
      `/weather/get".`,
  );
}
