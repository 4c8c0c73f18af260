// A hub with its own folder. It is served on one port to callers with a token, and on a second port without tokens.
import { stringify } from "smol-toml";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { loadHubConfig, openHub, type Hub } from "../../packages/toolyard/src/hub/open-hub.ts";
import type { HubConfig } from "../../packages/toolyard/src/hub/schema.ts";
import { serveHttp, type ServedHttp } from "../../packages/toolyard/src/hub/serve/serve.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { settled } from "../../packages/toolyard/src/hub/sources/settled.ts";

export const FULL = "full-token";

type Tokens = Readonly<Record<string, { readonly token: string; readonly deny?: string[] }>>;

export abstract class ServedYard implements AsyncDisposable {
  readonly folder = new ToolFolder();
  readonly #served: ServedHttp[] = [];
  #hub: Hub | undefined;

  abstract get settings(): HubConfig;

  /** Writes the settings as a file, opens the hub and waits for its sources. */
  protected async openHub(tokens: Tokens = {}): Promise<void> {
    this.folder.write("toolyard.toml", stringify(this.settings));
    const config = await loadHubConfig({ files: [], variables: this.variables, flags: this.settings });
    this.#hub = await openHub({ config, variables: this.variables, logger: SILENT_LOGGER });
    await settled(this.#hub, 30_000);
    this.#served.push(
      await serveHttp(this.#hub, { port: 0, tokens: { full: { token: FULL }, ...tokens } }),
      await serveHttp(this.#hub, { port: 0 }),
    );
  }

  get variables(): Readonly<Record<string, string>> {
    const { path } = this.folder;
    return { PATH: process.env["PATH"] ?? "", HOME: path, TOOLYARD_HOME: `${path}/home`, NO_COLOR: "1" };
  }

  /** Path of a configuration file with the same settings. */
  get config(): string {
    return `${this.folder.path}/toolyard.toml`;
  }

  get hub(): Hub {
    return this.#hub!;
  }

  /** Address for callers with a token. */
  get url(): string {
    return this.#served[0]!.address.url;
  }

  /** Port of the listener without tokens. */
  get openPort(): number {
    return this.#served[1]!.address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#served.map((served) => served.close(0)));
    await this.#hub?.close();
    this.folder[Symbol.dispose]();
  }
}
