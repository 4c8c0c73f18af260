// A hub with one source of each kind, for every endpoint and client library.
import { fileURLToPath } from "node:url";
import type { HubConfig } from "../../packages/toolyard/src/hub/schema.ts";
import type { RunningServer } from "../fixtures/http-servers.ts";
import { ServedYard } from "./served-yard.ts";
import { startWeb } from "./web-server.ts";

export const PIPE_SERVER: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL("pipe-server.mjs", import.meta.url)),
];
/** Token of a caller that may not use tools whose name begins with `fail.`. */
export const NARROW = "narrow-token";

const TEXT = '{ type: "object", properties: { text: { type: "string" } }, required: ["text"] }';
const MODULE = `export function registerTools(hub) {
  hub.registerTool("words.say", (args) => args, ${TEXT}, "Repeats its input.");
  hub.registerTool("fail.thrown", () => { throw new Error("boom"); });
  hub.registerTool("fail.strict", (args) => args, { type: "object", properties: { a: { type: "integer" } },
    required: ["a"] });
  hub.registerTool("fail.big", () => "x".repeat(5000), {}, "", { max_result_bytes: 1000 });
  hub.registerTool("fail.destroys", () => "gone", {}, "", { annotations: { destructiveHint: true } });
  hub.registerTool("fail.slow", (_args, { signal }) => new Promise((_, no) => signal.addEventListener("abort",
    () => no(signal.reason))), {}, "", { timeout: "100ms" });
  hub.registerTool("fail.waits", (_args, { signal }) => new Promise((_, no) => {
    signal.addEventListener("abort", () => { globalThis.surfaceYard.ended(); no(signal.reason); });
    globalThis.surfaceYard.begun();
  }));
  hub.registerTool("fail.single", () => globalThis.surfaceYard.single(), {}, "", { max_concurrent: 1 });
}
`;

export class SurfaceYard extends ServedYard {
  readonly #web: RunningServer;
  readonly #locked: RunningServer;

  private constructor(web: RunningServer, locked: RunningServer) {
    super();
    this.#web = web;
    this.#locked = locked;
  }

  static async open(): Promise<SurfaceYard> {
    const yard = new SurfaceYard(
      await startWeb(["say.there", "twin", "busy"]),
      await startWeb(["waits"], { locked: true }),
    );
    yard.#fill();
    await yard.openHub({ narrow: { token: NARROW, deny: ["fail.*"] } });
    return yard;
  }

  override get settings(): HubConfig {
    return {
      builtin: { execute_code: false },
      default_tools: { enable: ["internet_search"] },
      web_search: { backend: "searxng", base_url: new URL(this.#web.url).origin },
      modules: { paths: [`${this.folder.path}/mods`] },
      scripts: { tools_path: `${this.folder.path}/tools` },
      folders: { tools_path: `${this.folder.path}/folders` },
      limits: { rate_per_minute: 0, in_flight: 0, queue: 0, breaker: { failures: 1000 }, confirm_destructive: true },
      mcp: {
        stdio_servers: {
          pipe: { command: [...PIPE_SERVER, "say.here", "twin"] },
          frail: { command: [...PIPE_SERVER, "die", "nonsense"] },
        },
        remote_servers: [
          { alias: "web", namespace: "web", url: this.#web.url },
          { alias: "locked", namespace: "locked", url: this.#locked.url },
        ],
      },
    };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await Promise.all([this.#web.close(), this.#locked.close()]);
  }

  #fill(): void {
    this.folder.write("mods/words/mcp.mjs", MODULE);
    const parameters = '[parameters.text]\ntype = "string"\nrequired = true\n[parameters.ids]\ntype = "array"\n';
    this.folder.write(
      "tools/say_script/tool.toml",
      `name = "say_script"\ndescription = "Repeats its input."\nscript = "run.sh"\n${parameters}`,
    );
    this.folder.write("tools/say_script/run.sh", "cat", 0o755);
    const definition = {
      name: "say_folder",
      description: "Repeats its input.",
      input_schema: { type: "object", properties: { text: { type: "string" } } },
    };
    this.folder.write("folders/say_folder/say_folder.mcp.json", JSON.stringify(definition));
    this.folder.write("folders/say_folder/say_folder.mjs", "export const execute = (args) => args;\n");
  }
}
