import type { AuthServerParts } from "../../auth/builtin/auth-server.ts";
import { AuthServerHandle } from "../../auth/builtin/auth-server-handle.ts";
import type { AuthOptions } from "../../auth/options.ts";
import { dataFolder } from "../../core/data-folder.ts";

export interface LiveAuthServerParts {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly report: (problem: string) => void;
}

/** Holds the authorization server that was created last, and closes every one when the hub ends. */
export class LiveAuthServer {
  readonly #parts: LiveAuthServerParts;
  readonly #open = new Set<AuthServerHandle>();
  #current: AuthServerHandle | undefined;

  constructor(parts: LiveAuthServerParts) {
    this.#parts = parts;
  }

  /** Creates the authorization server. Returns `undefined` if the mode `builtin` is off. */
  create(
    { builtin, requiresDpop }: AuthOptions,
    { audience, nonceSecret }: Pick<AuthServerParts, "audience" | "nonceSecret">,
  ): AuthServerHandle | undefined {
    if (!builtin) return undefined;
    const { variables, report } = this.#parts;
    this.#current = new AuthServerHandle({
      options: builtin,
      dataFolder: dataFolder(variables),
      audience,
      requiresDpop,
      nonceSecret,
      environment: variables,
      loadLibrary: async () => (await import("./load-library.ts")).loadAuthLibrary(),
      report,
      now: Date.now,
    });
    this.#open.add(this.#current);
    return this.#current;
  }

  current(): AuthServerHandle {
    if (!this.#current) throw new Error("The authorization server was used before its place was opened.");
    return this.#current;
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#open, (server) => server.close()));
  }
}
