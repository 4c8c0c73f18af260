import type { AuthServerParts } from "../../auth/builtin/auth-server.ts";
import { AuthServerHandle } from "../../auth/builtin/auth-server-handle.ts";
import { OWN_SIGN_IN, type AuthOptions } from "../../auth/options.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { messageOf, OptionError } from "../../core/errors.ts";
import type { AuthState } from "../../state/ports/auth-state.ts";
import { StoreLostError, type HubState } from "../../state/ports/store.ts";

export interface LiveAuthServerParts {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly state: Pick<HubState, "notifications" | "now" | "openAuthState">;
  readonly report: (problem: string) => void;
}

/** Maximum number of tokens in one message about ended access. With more, hubs verify all tokens again. */
const MAX_ANNOUNCED = 500;

/** Holds the authorization server that was created last, and closes every one when the hub ends. */
export class LiveAuthServer {
  readonly #parts: LiveAuthServerParts;
  readonly #open = new Set<AuthServerHandle>();
  #current: AuthServerHandle | undefined;
  #state: Promise<AuthState> | undefined;

  constructor(parts: LiveAuthServerParts) {
    this.#parts = parts;
  }

  /** Creates the authorization server. Returns `undefined` if the mode `builtin` is off. */
  create(
    { builtin, requiresDpop }: AuthOptions,
    { audience, nonceSecret }: Pick<AuthServerParts, "audience" | "nonceSecret">,
  ): AuthServerHandle | undefined {
    if (!builtin) return undefined;
    const { variables, state, report } = this.#parts;
    this.#current = new AuthServerHandle({
      options: builtin,
      openState: () => this.#openState(),
      announce: (tokens) => {
        const named = tokens.length > MAX_ANNOUNCED ? [] : tokens;
        state.notifications.publish({ type: "access-ended", tokens: named.join(" ") });
      },
      audience,
      requiresDpop,
      nonceSecret,
      environment: variables,
      loadLibrary: async () => (await import("./load-library.ts")).loadAuthLibrary(),
      report,
      // The store measures lifetimes with its own clock, which may differ from the clock of this machine.
      now: () => state.now ?? Date.now(),
    });
    this.#open.add(this.#current);
    // A hub with another key than the other hubs reports it when it starts, not when the first user signs in.
    if (state.openAuthState) this.#openState().catch(() => {});
    return this.#current;
  }

  current(): AuthServerHandle {
    if (!this.#current) throw new Error("The authorization server was used before its place was opened.");
    return this.#current;
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#open, (server) => server.close()));
  }

  /** Opens the state once. After a failure, the next call tries again. */
  #openState(): Promise<AuthState> {
    if (this.#state) return this.#state;
    const opening = this.#openNow();
    this.#state = opening;
    opening.catch(() => {
      if (this.#state === opening) this.#state = undefined;
    });
    return opening;
  }

  async #openNow(): Promise<AuthState> {
    const { variables, state, report } = this.#parts;
    if (!state.openAuthState) {
      const { openDiskState } = await import("../../auth/builtin/disk/disk-state.ts");
      return openDiskState(dataFolder(variables));
    }
    const { sharedKey } = await import("../../core/shared-key.ts");
    try {
      const opened = await state.openAuthState(sharedKey(variables, OWN_SIGN_IN));
      // A hub that serves binds the store before its first user, so that hubs with other keys are refused at once.
      await opened.bindKey?.();
      return opened;
    } catch (cause) {
      if (!(cause instanceof OptionError)) throw cause;
      report(messageOf(cause));
      throw new StoreLostError({ cause });
    }
  }
}
