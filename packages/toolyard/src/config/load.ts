import { resolve } from "node:path";
import { ConfigError } from "../core/errors.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { OptionSchema } from "../core/options/option-schema.ts";
import type { FileDraft } from "../core/ports/hub-control.ts";
import { checkConfig, formatPath, type ConfigProblem } from "./check.ts";
import { readDocument, type ConfigDocument } from "./document.ts";
import { MissingValue } from "./expand.ts";
import { refuseInheritedKeys } from "./inherited-keys.ts";
import { environmentLayers, mergeLayers, type Layer } from "./layers.ts";
import { prepareValue, type PrepareContext } from "./prepare.ts";
import { sourcesNamedTwice, type UnusableSource } from "./source-tables.ts";

export interface LoadOptions<T = JsonObject> {
  /** Files in order of increasing precedence. */
  readonly files: readonly string[];
  /** Text that is read instead of one of the files. @default none */
  readonly draft?: FileDraft;
  /** Environment variables: `process.env` or a replacement. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Values of members that no other layer sets. */
  readonly base?: JsonObject;
  /** Values from the command line, as a tree. They override all other layers. */
  readonly flags?: JsonObject;
  /** Combined schema of the parts in the hub's list. */
  readonly schema: OptionSchema<T>;
}

/** A checked configuration. `tree` has the type of its schema. */
export interface LoadedConfig<T = JsonObject> {
  readonly tree: T;
  readonly origins: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
  readonly unusable: readonly UnusableSource[];
  /** Resolved secrets, which are redacted in all output. */
  readonly secrets: readonly string[];
  /** Absolute paths of the files that were read. */
  readonly files: readonly string[];
  /** Folder from which relative paths in variables and flags start. */
  readonly folder: string;
  /** Returns the tree without the command's flags. Throws a `ConfigError` if it is invalid. */
  withoutFlags(): T;
}

/** Reads, merges and checks all layers. Throws a `ConfigError` with every problem. */
export async function loadConfig<T>(options: LoadOptions<T>): Promise<LoadedConfig<T>> {
  const { schema, variables } = options;
  const documents = await Promise.all(options.files.map((file) => readDocument(file, draftOf(file, options.draft))));
  const secrets = new Set<string>();
  const unusable: UnusableSource[] = [];
  const layers: Layer[] = [{ origin: "default", tree: options.base ?? {} }];
  for (const document of documents) {
    const context = { variables, folder: document.folder, secrets, unusable };
    layers.push({ origin: document.path, tree: await prepareDocument(document, schema, context) });
  }
  refuseInheritedKeys(options.flags, "settings");
  const environment = environmentLayers(variables, schema);
  const outside = { variables, folder: process.cwd(), secrets };
  for (const { origin, tree } of [...environment.layers, { origin: "flag", tree: options.flags ?? {} }]) {
    layers.push({ origin, tree: await prepareTree(tree, schema, outside) });
  }
  return {
    ...joinLayers(layers, schema),
    withoutFlags: () => joinLayers(layers.slice(0, -1), schema).tree,
    warnings: [...documents.flatMap((document) => document.warnings), ...environment.warnings],
    unusable,
    secrets: [...secrets],
    files: documents.map((document) => document.path),
    folder: documents.at(-1)?.folder ?? process.cwd(),
  };
}

function draftOf(file: string, draft: FileDraft | undefined): string | undefined {
  return draft && resolve(file) === draft.path ? draft.text : undefined;
}

/** Returns the layers as one checked tree. */
function joinLayers<T>(
  layers: readonly Layer[],
  schema: OptionSchema<T>,
): { readonly tree: T; readonly origins: ReadonlyMap<string, string> } {
  const { tree, origins } = mergeLayers(layers, schema);
  assertConfig(tree, schema, ({ path, message }) => `${formatPath(path)}: ${message} (${originOf(path, origins)})`);
  return { tree, origins };
}

/** Asserts the type of the tree. Throws a `ConfigError` with every problem, formatted by `say`. */
function assertConfig<T>(
  tree: JsonObject,
  schema: OptionSchema<T>,
  say: (problem: ConfigProblem) => string,
): asserts tree is JsonObject & T {
  const problems = [...checkConfig(tree, schema), ...sourcesNamedTwice(tree, schema)].map(say);
  if (problems.length > 0) throw new ConfigError(problems);
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
  { tree, path }: ConfigDocument,
  schema: OptionSchema,
  context: PrepareContext,
): Promise<JsonObject> {
  try {
    return await prepareTree(withNewNames(tree, schema), schema, context);
  } catch (error) {
    if (!(error instanceof MissingValue)) throw error;
    throw new ConfigError([`${path}: ${error.message}.`], { cause: error });
  }
}

/** Renames sections to their current names. */
function withNewNames(tree: JsonObject, { properties = {} }: OptionSchema): JsonObject {
  const sections: JsonObject = { ...tree };
  for (const [name, { "~table": facts }] of Object.entries(properties)) {
    if (facts?.formerly === undefined) continue;
    const { [facts.formerly]: former, [name]: own } = tree;
    delete sections[facts.formerly];
    if (isJsonObject(former)) sections[name] = { ...former, ...(isJsonObject(own) ? own : {}) };
  }
  return sections;
}

async function prepareTree(tree: JsonObject, schema: OptionSchema, context: PrepareContext): Promise<JsonObject> {
  const prepared = await prepareValue(tree, schema, context);
  return isJsonObject(prepared) ? prepared : {};
}
