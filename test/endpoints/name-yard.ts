// A hub over servers whose tools return the name of the server and of the tool, for every endpoint and client library.
import { fileURLToPath } from "node:url";
import type { HubConfig } from "../../packages/toolyard/src/hub/schema.ts";
import { ServedYard } from "./served-yard.ts";

/** Starts a server with the given name that lists the given tools. It also accepts calls of unlisted tools. */
export const NAMED_SERVER: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL("named-server.mjs", import.meta.url)),
];

type StdioServers = NonNullable<NonNullable<HubConfig["mcp"]>["stdio_servers"]>;

export class NameYard extends ServedYard {
  readonly #servers: StdioServers;

  private constructor(servers: StdioServers) {
    super();
    this.#servers = servers;
  }

  static async open(servers: StdioServers): Promise<NameYard> {
    const yard = new NameYard(servers);
    await yard.openHub();
    return yard;
  }

  override get settings(): HubConfig {
    return {
      limits: { rate_per_minute: 0, in_flight: 0, queue: 0, breaker: { failures: 1000 } },
      mcp: { stdio_servers: this.#servers },
    };
  }
}
