import type { JsonObject } from "../../core/json/json.ts";
import { differenceOf, isLimited, runsSame } from "../import/same-server.ts";
import type { OwnServer } from "./take-over.ts";

/** A server of the hub that is withheld from one client. */
export interface HiddenServer {
  /** Name of the server in the hub's configuration. */
  readonly name: string;
  /**
   * Name of the client's own server that runs the same program with different settings. It is the reason for hiding.
   */
  readonly because: string;
}

/**
 * Returns the servers of the hub that a client must not see, because it has the same program with its own settings:
 * disabled, with fewer tools, or with another account. Otherwise the hub would give the client access that its own file
 * withholds. A server that was moved out of the client's file is never hidden from it.
 */
export function hiddenServers(
  own: readonly OwnServer[],
  hub: ReadonlyMap<string, JsonObject>,
): readonly HiddenServer[] {
  const moved = own.filter(({ moves }) => moves);
  return [...hub].flatMap(([name, options]) => {
    if (moved.some((server) => differenceOf(server.options, options) === undefined)) return [];
    const other = own.find(
      (server) => runsSame(server.options, options) && (!server.moves || isLimited(server.options)),
    );
    return other ? [{ name, because: other.name }] : [];
  });
}
