// A whole hub with real sources, served on HTTP, for tests of the documents' requirements.
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Logger } from "../../packages/toolyard/src/core/ports/ports.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { McpSession, type SessionOptions } from "./mcp-session.ts";

type Level = "debug" | "info" | "warning" | "error";

/** Collects the hub's log: `level message` for each line, or the whole lines with their fields. */
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
  /** Folder with `tools/` (scripts), `mods/` (modules) and `folders/` (tool folders). */
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

  /** Opens the hub after the test has prepared the folder. Folders of the yard are named by their short names. */
  async open(
    settings: HubConfig = {},
    { config, watch = false }: { config?: string; watch?: boolean } = {},
  ): Promise<this> {
    this.#hub = await createHub({
      // Tests count their own tools, so `execute_code` is only added on request.
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

  /** Writes a module that runs `body`, with `hub` in scope. */
  module(name: string, body: string): void {
    this.folder.write(`mods/${name}/mcp.mjs`, `export function registerTools(hub) {\n${body}\n}\n`);
  }

  /** Writes a script tool into `tools/`; by default it returns its arguments. */
  script(name: string, toml = "", text = "cat", file = "run.sh"): void {
    this.folder.write(`tools/${name}/${file}`, text, 0o755);
    this.folder.write(
      `tools/${name}/tool.toml`,
      `name = "${name}"\ndescription = "Tool ${name}."\nscript = "${file}"\n${toml}`,
    );
  }

  /** Returns the URL of the MCP endpoint; the first call starts serving the hub. */
  async endpoint(): Promise<string> {
    this.#endpoint ??= (await this.hub.serve()).endpoint;
    return this.#endpoint;
  }

  async mcp(options: SessionOptions = {}): Promise<McpSession> {
    return McpSession.open(await this.endpoint(), options);
  }

  /** Returns the problems that a source reports about its tools, as `subject: message`. */
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

/** Returns the texts of a result's content. */
export function textsOf(result: unknown): string[] {
  const content = ((result as JsonObject | undefined)?.["content"] ?? []) as readonly JsonObject[];
  return content.map((item) => String(item["text"]));
}
