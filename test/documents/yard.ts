// A whole hub with real sources, served on HTTP, for tests of the documents' requirements.
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Logger } from "../../packages/toolyard/src/core/ports/ports.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { McpSession, type SessionOptions } from "./mcp-session.ts";

type Level = "debug" | "info" | "warning" | "error";

/** The hub's log: `level message` for each line, or everything with its facts. */
class LogLines implements Logger {
  readonly all: string[] = [];
  whole = "";

  debug(message: string, facts?: JsonObject): void {
    this.#take("debug", message, facts);
  }
  info(message: string, facts?: JsonObject): void {
    this.#take("info", message, facts);
  }
  warning(message: string, facts?: JsonObject): void {
    this.#take("warning", message, facts);
  }
  error(message: string, facts?: JsonObject): void {
    this.#take("error", message, facts);
  }
  with(): Logger {
    return this;
  }

  #take(level: Level, message: string, facts: JsonObject = {}): void {
    this.all.push(`${level} ${message}`);
    this.whole += `${level} ${message} ${JSON.stringify(facts)}\n`;
  }
}

export class Yard implements AsyncDisposable {
  /** Holds `tools/` (scripts), `mods/` (modules), `folders/` (tool folders). */
  readonly folder = new ToolFolder();
  readonly log = new LogLines();
  #hub: LibraryHub | undefined;
  #endpoint: string | undefined;

  get hub(): LibraryHub {
    if (!this.#hub) throw new Error("The yard is not open yet.");
    return this.#hub;
  }

  get lines(): readonly string[] {
    return this.log.all;
  }

  /** Opens the hub once the test has prepared the folder. Sources in the yard's folders are added by name. */
  async open(
    settings: HubConfig = {},
    { config, watch = false }: { config?: string; watch?: boolean } = {},
  ): Promise<this> {
    this.#hub = await createHub({
      // Tests count their own tools; `execute_code` is only added on request.
      settings: {
        ...settings,
        builtin: { execute_code: false, ...settings.builtin },
        server: { port: 0, ...settings.server },
      },
      variables: { ...process.env, TOOLYARD_HOME: `${this.folder.path}/home` },
      logger: this.log,
      watch,
      ...(config === undefined ? {} : { config }),
    });
    return this;
  }

  path(place: string): string {
    return `${this.folder.path}/${place}`;
  }

  /** A module that runs `body`, with `hub` in scope. */
  module(name: string, body: string): void {
    this.folder.write(`mods/${name}/mcp.mjs`, `export function registerTools(hub) {\n${body}\n}\n`);
  }

  /** A script tool in `tools/`; by default it returns its arguments. */
  script(name: string, toml = "", text = "cat", file = "run.sh"): void {
    this.folder.write(`tools/${name}/${file}`, text, 0o755);
    this.folder.write(
      `tools/${name}/tool.toml`,
      `name = "${name}"\ndescription = "Tool ${name}."\nscript = "${file}"\n${toml}`,
    );
  }

  /** The MCP endpoint; the hub is served at its first use. */
  async endpoint(): Promise<string> {
    this.#endpoint ??= (await this.hub.serve()).endpoint;
    return this.#endpoint;
  }

  async mcp(options: SessionOptions = {}): Promise<McpSession> {
    return McpSession.open(await this.endpoint(), options);
  }

  /** Problems that a source reports about its tools, `subject: message`. */
  problems(source: string): readonly string[] {
    const report = this.hub.sources().find((one) => one.source.id === source);
    return (report?.problems ?? []).map(({ subject, message }) => `${subject}: ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hub?.close();
    this.folder[Symbol.dispose]();
  }
}

export function namesOf(tools: readonly JsonObject[]): string[] {
  return tools.map((tool) => String(tool["name"]));
}

/** The texts of a result's content. */
export function textsOf(result: unknown): string[] {
  const content = ((result as JsonObject | undefined)?.["content"] ?? []) as readonly JsonObject[];
  return content.map((item) => String(item["text"]));
}
