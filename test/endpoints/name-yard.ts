// A hub over servers whose tools answer with the server's name and theirs, for all surfaces.
import { fileURLToPath } from "node:url";
import { stringify } from "smol-toml";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { loadHubConfig, openHub, type Hub } from "../../packages/toolyard/src/hub/open-hub.ts";
import type { HubConfig } from "../../packages/toolyard/src/hub/schema.ts";
import { serveHttp, type ServedHttp } from "../../packages/toolyard/src/hub/serve/serve.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import type { Ground } from "./surface.ts";

export const FULL = "full-token";

/** A server that names itself and its tools: its name, then what it lists. It accepts every other tool, too. */
export const NAMED_SERVER: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL("named-server.mjs", import.meta.url)),
];

type StdioServers = NonNullable<NonNullable<HubConfig["mcp"]>["stdio_servers"]>;

export class NameYard implements AsyncDisposable, Ground {
  readonly folder = new ToolFolder();
  #hub: Hub | undefined;
  readonly #doors: ServedHttp[] = [];

  readonly #servers: StdioServers;

  private constructor(servers: StdioServers) {
    this.#servers = servers;
  }

  static async open(servers: StdioServers): Promise<NameYard> {
    const yard = new NameYard(servers);
    yard.folder.write("toolyard.toml", stringify(yard.settings));
    const config = await loadHubConfig({ files: [], variables: yard.variables, flags: yard.settings });
    const hub = await openHub({ config, variables: yard.variables, logger: SILENT_LOGGER });
    yard.#hub = hub;
    await hub.settled(30_000);
    yard.#doors.push(
      await serveHttp(hub, { port: 0, tokens: { full: { token: FULL } } }),
      await serveHttp(hub, { port: 0 }),
    );
    return yard;
  }

  get variables(): Readonly<Record<string, string>> {
    const { path } = this.folder;
    return { PATH: process.env["PATH"] ?? "", HOME: path, TOOLYARD_HOME: `${path}/home`, NO_COLOR: "1" };
  }

  get settings(): HubConfig {
    return {
      limits: { rate_per_minute: 0, in_flight: 0, queue: 0, breaker: { failures: 1000 } },
      mcp: { stdio_servers: this.#servers },
    };
  }

  get config(): string {
    return `${this.folder.path}/toolyard.toml`;
  }

  get hub(): Hub {
    return this.#hub!;
  }

  get url(): string {
    return this.#doors[0]!.address.url;
  }

  get openPort(): number {
    return this.#doors[1]!.address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#doors.map((door) => door.close(0)));
    await this.#hub?.close();
    this.folder[Symbol.dispose]();
  }
}
