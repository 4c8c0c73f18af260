import type { ClientKind } from "../../config/connect/clients.ts";
import { ConfigError, messageOf } from "../../core/errors.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { UsageError } from "../failure.ts";
import { print, type Io } from "../output/io.ts";

interface EachOptions {
  /** True if the user named one client. Its error is then the result. */
  readonly named: boolean;
  readonly options: SharedOptions;
  readonly io: Io;
}

interface Each<T> {
  readonly done: readonly T[];
  /** Failed clients; `undefined` if none failed. */
  readonly failed?: { readonly failed: readonly { readonly client: string; readonly reason: string }[] };
}

/** Runs `work` for each client. A broken file of one client does not stop the others. */
export async function eachClient<T>(
  clients: readonly ClientKind[],
  work: (client: ClientKind) => Promise<T>,
  { named, options, io }: EachOptions,
): Promise<Each<T>> {
  const done: T[] = [];
  const failed: { client: string; reason: string }[] = [];
  for (const client of clients) {
    try {
      done.push(await work(client));
    } catch (error) {
      if (named || !(error instanceof ConfigError || error instanceof UsageError)) throw error;
      const reason = messageOf(error);
      failed.push({ client: client.id, reason });
      if (!options.json) await print(io.stderr, `${client.program} is left as it is: ${reason}`);
    }
  }
  return { done, ...(failed.length > 0 ? { failed: { failed } } : {}) };
}
