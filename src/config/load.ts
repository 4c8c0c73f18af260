import { ConfigError } from "../core/errors.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { OptionSchema } from "../core/option-schema.ts";
import { checkConfig, formatPath } from "./check.ts";
import { readDocument, type ConfigDocument } from "./document.ts";
import { MissingValue } from "./expand.ts";
import { refuseInheritedKeys } from "./inherited-keys.ts";
import { environmentLayers, mergeLayers, remoteName, type Layer } from "./layers.ts";
import { prepareValue, type PrepareContext } from "./prepare.ts";

export interface LoadOptions {
  /** Files in rising precedence. */
  readonly files: readonly string[];
  /** `process.env`, or what stands for it. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** What holds where no other layer says something. */
  readonly base?: JsonObject;
  /** What the command line says, as a tree. Wins over everything. */
  readonly flags?: JsonObject;
  /** The schema of all parts together; the hub's list of parts makes it. */
  readonly schema: OptionSchema;
}

/** An upstream that its configuration makes impossible; everything else goes on without it. */
export interface UnusableSource {
  readonly id: string;
  readonly kind: "stdio" | "http";
  readonly reason: string;
}

export interface LoadedConfig {
  readonly tree: JsonObject;
  readonly origins: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
  readonly unusable: readonly UnusableSource[];
  /** Resolved secrets, to be redacted wherever text leaves the program. */
  readonly secrets: readonly string[];
  /** Absolute paths of the files that were read. */
  readonly files: readonly string[];
  /** Folder that relative things outside any file belong to. */
  readonly folder: string;
}

/** Reads, joins and checks all layers. Throws `ConfigError` with every problem at once. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const documents = await Promise.all(options.files.map((file) => readDocument(file)));
  const secrets = new Set<string>();
  const unusable: UnusableSource[] = [];
  const layers: Layer[] = [{ origin: "default", tree: options.base ?? {} }];
  for (const document of documents) {
    const context = { variables: options.variables, folder: document.folder, secrets };
    layers.push({ origin: document.path, tree: await prepareDocument(document, options.schema, context, unusable) });
  }
  refuseInheritedKeys(options.flags, "settings");
  const environment = environmentLayers(options.variables, options.schema);
  const outside = { variables: options.variables, folder: process.cwd(), secrets };
  for (const layer of [...environment.layers, { origin: "flag", tree: options.flags ?? {} }]) {
    layers.push({
      origin: layer.origin,
      tree: (await prepareValue(layer.tree, options.schema, outside)) as JsonObject,
    });
  }
  const { tree, origins } = mergeLayers(layers);
  const problems = [...checkConfig(tree, options.schema), ...duplicateAliases(tree)].map(
    ({ path, message }) => `${formatPath(path)}: ${message} (${originOf(path, origins)})`,
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    tree,
    origins,
    warnings: [...documents.flatMap((document) => document.warnings), ...environment.warnings],
    unusable,
    secrets: [...secrets],
    files: documents.map((document) => document.path),
    folder: documents.at(-1)?.folder ?? process.cwd(),
  };
}

function originOf(path: readonly string[], origins: ReadonlyMap<string, string>): string {
  for (let length = path.length; length > 0; length -= 1) {
    const key = path.slice(0, length).join(".");
    const exact = origins.get(key);
    if (exact !== undefined) return exact;
    for (const [leaf, origin] of origins) if (leaf.startsWith(`${key}.`)) return origin;
  }
  return "configuration";
}

async function prepareDocument(
  document: ConfigDocument,
  schema: OptionSchema,
  context: PrepareContext,
  unusable: UnusableSource[],
): Promise<JsonObject> {
  const { scriptling, mcp, ...sections } = document.tree;
  if (isJsonObject(scriptling))
    sections["scripts"] = { ...scriptling, ...(isJsonObject(sections["scripts"]) ? sections["scripts"] : {}) };
  const tree = await prepareSection(sections, schema, context, document.path);
  if (mcp === undefined) return tree;
  return {
    ...tree,
    mcp: isJsonObject(mcp) ? await prepareServers(mcp, schema.properties?.["mcp"], context, unusable) : mcp,
  };
}

async function prepareSection(
  tree: JsonObject,
  schema: OptionSchema,
  context: PrepareContext,
  file: string,
): Promise<JsonObject> {
  try {
    return (await prepareValue(tree, schema, context)) as JsonObject;
  } catch (error) {
    if (!(error instanceof MissingValue)) throw error;
    throw new ConfigError([`${file}: ${error.message}.`], { cause: error });
  }
}

/** A reference that cannot be resolved takes its own server out, and nothing else. */
async function prepareServers(
  mcp: JsonObject,
  schema: OptionSchema | undefined,
  context: PrepareContext,
  unusable: UnusableSource[],
): Promise<JsonObject> {
  const result: JsonObject = { ...mcp };
  const stdio = mcp["stdio_servers"];
  const remote = mcp["remote_servers"];
  const stdioSchema = schema?.properties?.["stdio_servers"]?.additionalProperties as OptionSchema | undefined;
  const remoteSchema = schema?.properties?.["remote_servers"]?.items;
  const attempt = async (id: string, kind: "stdio" | "http", entry: unknown, own: OptionSchema | undefined) => {
    try {
      if (isJsonObject(entry) && entry["enabled"] === false) return withoutReferences(entry);
      return await prepareValue(isJsonObject(entry) && kind === "stdio" ? { cwd: ".", ...entry } : entry, own, context);
    } catch (error) {
      if (!(error instanceof MissingValue)) throw error;
      unusable.push({ id, kind, reason: error.message });
      return undefined;
    }
  };
  if (isJsonObject(stdio)) {
    const entries = await Promise.all(
      Object.entries(stdio).map(async ([id, entry]) => [id, await attempt(id, "stdio", entry, stdioSchema)] as const),
    );
    result["stdio_servers"] = Object.fromEntries(entries.filter(([, entry]) => entry !== undefined));
  }
  if (Array.isArray(remote)) {
    const entries = await Promise.all(
      remote.map((entry: unknown) => attempt(remoteName(entry), "http", entry, remoteSchema)),
    );
    result["remote_servers"] = entries.filter((entry) => entry !== undefined);
  }
  return result;
}

/** A server that is switched off needs none of its variables. */
function withoutReferences(entry: JsonObject): JsonObject {
  const unresolved = (value: unknown) => typeof value !== "string" && !Array.isArray(value) && !isJsonObject(value);
  const kept = Object.entries(entry).filter(
    ([key, value]) => unresolved(value) || ["alias", "namespace", "url", "command", "host"].includes(key),
  );
  return Object.fromEntries(kept);
}

function duplicateAliases(tree: JsonObject): { path: readonly string[]; message: string }[] {
  const mcp = isJsonObject(tree["mcp"]) ? tree["mcp"] : {};
  const remote = Array.isArray(mcp["remote_servers"]) ? mcp["remote_servers"] : [];
  const seen = new Set(isJsonObject(mcp["stdio_servers"]) ? Object.keys(mcp["stdio_servers"]) : []);
  return remote.flatMap((entry, index) => {
    const name = remoteName(entry);
    const isTwice = seen.has(name);
    seen.add(name);
    return isTwice
      ? [
          {
            path: ["mcp", "remote_servers", String(index)],
            message: `the name "${name}" is taken by another server; rename one of them`,
          },
        ]
      : [];
  });
}
