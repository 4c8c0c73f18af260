import { statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { locateConfig } from "../../config/locate.ts";
import { messageOf, OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import { Fingerprint } from "../../runtimes/typescript/fingerprint.ts";
import { describeImportError, importUserModule } from "../../runtimes/typescript/import-module.ts";
import { assertOptions, snakeKeys } from "../option-keys.ts";
import { guardBinding } from "./guarded-binding.ts";
import { lackingMessage, missingMethods, type LollmsMCPBinding } from "./binding.ts";
import { bindingNames, findBindingFile } from "./binding-files.ts";

/** A class that creates bindings, with its own options. */
export type BindingClass = new (options?: never) => LollmsMCPBinding;

export interface BindingManagerOptions {
  /** Folder of binding modules. @default the folder of this package's bindings */
  readonly mcpBindingsDir?: string | URL;
  readonly mcp_bindings_dir?: string | URL;
  /** Logger for the reason why a binding cannot be loaded or created. @default no log; see `problems` */
  readonly logger?: Logger;
}

/** Folder of the bindings in this package. */
const OWN_FOLDER = fileURLToPath(new URL("mcp_bindings", import.meta.url));

/**
 * Finds and creates bindings from a folder. A binding is a module `<name>.ts` or `<name>/index.ts` (`.mts`, `.js`,
 * `.mjs`) that exports a class and, as `BindingName`, the name of that class. Bindings of this package are also
 * available under names that the folder does not use.
 *
 * @example
 * ```ts
 * import { LollmsMCPBindingManager, type LocalMCPBinding } from "toolyard/bindings";
 *
 * const manager = new LollmsMCPBindingManager();
 * const local = await manager.createBinding<LocalMCPBinding>("local_mcp", { tools_folder_path: "tools" });
 * if (!local) throw new Error(manager.problems.get("local_mcp"));
 * console.log(await local.executeTool("weather", { city: "Paris" }));
 * await local.close();
 * ```
 */
export class LollmsMCPBindingManager {
  readonly mcp_bindings_dir: string;
  /** Loaded classes by binding name. */
  readonly available_bindings: Record<string, BindingClass> = Object.create(null) as Record<string, BindingClass>;
  readonly #logger: Logger | undefined;
  readonly #problems = new Map<string, string>();
  readonly #loading = new Map<string, Promise<BindingClass | undefined>>();

  constructor(options: string | URL | BindingManagerOptions = {}) {
    const isFolder = typeof options === "string" || options instanceof URL;
    const { mcp_bindings_dir: folder = OWN_FOLDER, logger } = isFolder
      ? { mcp_bindings_dir: options }
      : snakeKeys(assertOptions("LollmsMCPBindingManager", options, 'mcp_bindings_dir: "bindings"'), [
          "mcp_bindings_dir",
          "logger",
        ]);
    if (!(folder instanceof URL) && (typeof folder !== "string" || folder === ""))
      throw new OptionError(`\`mcp_bindings_dir\` must name a folder, got ${JSON.stringify(folder)}.`);
    this.mcp_bindings_dir = folder instanceof URL ? fileURLToPath(folder) : resolve(folder);
    this.#logger = logger as Logger | undefined;
  }

  /**
   * Creates a manager for `[bindings] dir` of a configuration: the named files, else `./toolyard.toml`, else the user's
   * file. Rejects with a `ConfigError` if it cannot be read.
   */
  static async fromConfig(
    config: string | readonly string[] = [],
    options: { readonly logger?: Logger; readonly variables?: Readonly<Record<string, string | undefined>> } = {},
  ): Promise<LollmsMCPBindingManager> {
    const { variables = process.env, logger } = options;
    const files = locateConfig(typeof config === "string" ? [config] : config, variables, process.cwd());
    const { bindings } = (await loadHubConfig({ files, variables })).tree;
    return new LollmsMCPBindingManager({
      ...(bindings?.dir === undefined ? {} : { mcp_bindings_dir: bindings.dir }),
      ...(logger ? { logger } : {}),
    });
  }

  get mcpBindingsDir(): string {
    return this.mcp_bindings_dir;
  }
  get availableBindings(): Readonly<Record<string, BindingClass>> {
    return this.available_bindings;
  }

  /** Reason why a binding could not be loaded or created at the last attempt, by name. */
  get problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  /**
   * Creates a binding; `options` go to its constructor. Resolves with `undefined` if it cannot be loaded or created.
   */
  async createBinding<T extends LollmsMCPBinding = LollmsMCPBinding>(
    bindingName: string,
    options?: object | null,
  ): Promise<T | undefined> {
    this.#checkFolder();
    const Binding = await this.#load(bindingName);
    if (!Binding) return undefined;
    try {
      const binding = new Binding((options ?? {}) as never);
      this.#problems.delete(bindingName);
      if (this.#isOwn(bindingName)) return binding as T;
      return guardBinding(binding, (message) => this.#failed(bindingName, `${message}.`)) as T;
    } catch (error) {
      return this.#failed(bindingName, `cannot be created: ${messageOf(error)}`);
    }
  }

  /**
   * Returns the names of all loadable bindings, sorted. A missing folder becomes a problem under its path; the bindings
   * of this package remain available.
   */
  async getAvailableBindings(): Promise<readonly string[]> {
    this.#checkFolder();
    const names = new Set([...(await bindingNames(this.mcp_bindings_dir)), ...(await bindingNames(OWN_FOLDER))]);
    const loaded = await Promise.all([...names].map(async (name) => ((await this.#load(name)) ? [name] : [])));
    return loaded.flat().toSorted();
  }

  create_binding(bindingName: string, options?: object | null): Promise<LollmsMCPBinding | undefined> {
    return this.createBinding(bindingName, options);
  }
  get_available_bindings(): Promise<readonly string[]> {
    return this.getAvailableBindings();
  }

  #checkFolder(): void {
    const folder = this.mcp_bindings_dir;
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) this.#problems.delete(folder);
    else if (!this.#problems.has(folder))
      this.#failed(folder, "is not an existing folder. Create it, or correct `mcp_bindings_dir`.");
  }

  /** Returns whether the binding belongs to this package. Such a binding is not checked against the contract. */
  #isOwn(name: string): boolean {
    return this.mcp_bindings_dir === OWN_FOLDER || findBindingFile(this.mcp_bindings_dir, name) === undefined;
  }

  #load(name: string): Promise<BindingClass | undefined> {
    if (typeof name !== "string")
      return Promise.resolve(this.#failed(String(name), "is not a valid name of a binding: the name must be text."));
    const known = this.available_bindings[name];
    if (known) return Promise.resolve(known);
    let loading = this.#loading.get(name);
    if (!loading) {
      loading = this.#loadClass(name).finally(() => this.#loading.delete(name));
      this.#loading.set(name, loading);
    }
    return loading;
  }

  async #loadClass(name: string): Promise<BindingClass | undefined> {
    const own = findBindingFile(this.mcp_bindings_dir, name);
    const file = own ?? findBindingFile(OWN_FOLDER, name);
    if (file === undefined)
      return this.#failed(name, "does not exist: a binding is a module of that name in the folder.");
    const isOurs = own === undefined || this.mcp_bindings_dir === OWN_FOLDER;
    const namespace = await (isOurs ? importOurs(file) : importTheirs(file)).catch((error: unknown) => ({
      problem: messageOf(error),
    }));
    if ("problem" in namespace) return this.#failed(name, `cannot be loaded: ${String(namespace["problem"])}`);
    const found = bindingClass(namespace);
    if (typeof found === "string") return this.#failed(name, found);
    this.#problems.delete(name);
    this.available_bindings[name] = found;
    return found;
  }

  #failed(name: string, message: string): undefined {
    this.#problems.set(name, message);
    const what = name === this.mcp_bindings_dir ? "The folder of bindings" : "The binding";
    this.#logger?.warning(`${what} ${name} ${message}`);
    return undefined;
  }
}

async function importOurs(file: string): Promise<JsonObject> {
  return (await import(pathToFileURL(file).href)) as JsonObject;
}

async function importTheirs(file: string): Promise<JsonObject> {
  const { graph } = new Fingerprint(file);
  try {
    return (await importUserModule(graph)).namespace;
  } catch (error) {
    throw new Error(await describeImportError(error, graph), { cause: error });
  }
}

/** Returns the class that the module names, or the reason why it is invalid. */
function bindingClass(namespace: JsonObject): BindingClass | string {
  const { BindingName: className } = namespace;
  if (typeof className !== "string") return "does not name its class: export `BindingName` with the name of the class.";
  const found = namespace[className];
  if (typeof found !== "function") return `names the class \`${className}\`, but does not export it.`;
  const lacking = missingMethods((found.prototype ?? Object.prototype) as object);
  return lacking.length > 0 ? lackingMessage(className, lacking) : (found as BindingClass);
}
