import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Outcome } from "../../packages/toolyard/src/core/calls/outcome.ts";
import type { Provider } from "../../packages/toolyard/src/core/sources/provider.ts";
import { createScriptsProvider } from "../../packages/toolyard/src/providers/scripts/provider.ts";
import { resolveScripts, type ScriptsConfig } from "../../packages/toolyard/src/providers/scripts/options.ts";
import { callTool, folderServices, isAlive, testSource, ToolFolder, type CallOptions } from "./tool-folder.ts";

/** A folder of script tools with a provider for it; both are removed after the test with all children. */
export class ScriptYard implements AsyncDisposable {
  readonly folder = new ToolFolder();
  readonly #providers: Provider[] = [];

  provide(config: ScriptsConfig = {}): Provider {
    const provider = createScriptsProvider(
      testSource("scripts"),
      resolveScripts({ tools_path: this.folder.path, ...config }),
      folderServices(),
    );
    this.#providers.push(provider);
    return provider;
  }

  get provider(): Provider {
    return this.#providers[0] ?? this.provide();
  }

  call(name: string, args: JsonObject = {}, options: CallOptions = {}): Promise<Outcome> {
    return callTool(this.provider, name, args, options);
  }

  /** Returns the process ids that a script wrote into a file, one per line. */
  pids(file: string): number[] {
    return readFileSync(join(this.folder.path, file), "utf8").split("\n").filter(Boolean).map(Number);
  }

  living(file: string): number[] {
    return this.pids(file).filter(isAlive);
  }

  hasLines(file: string, count: number): boolean {
    return existsSync(join(this.folder.path, file)) && this.pids(file).length >= count;
  }

  /** Resolves when a script has written this number of lines into a file. */
  async lines(file: string, count: number): Promise<void> {
    await until(() => this.hasLines(file, count));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#providers.map((provider) => provider.close()));
    this.folder[Symbol.dispose]();
  }
}

/** Polls every few milliseconds; the time limit is the test's own. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
