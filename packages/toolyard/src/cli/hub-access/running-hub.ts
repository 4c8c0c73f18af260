import { fail } from "../../core/calls/outcome.ts";
import { FailError } from "../../core/errors.ts";
import { askRunning, type RunningHubAnswer } from "../../hub/shared/ask-running.ts";
import type { HubCommand } from "../../hub/shared/greeting.ts";
import { knownPlaces, type SharedPlace } from "../../hub/shared/place.ts";
import { UsageError } from "../failure.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { placeOf } from "./shared-hub.ts";

export interface FoundHub {
  readonly place: SharedPlace;
  readonly answer: RunningHubAnswer;
}

/** Finds the shared hub of the named configuration, or of the one in force in this folder. */
export async function ownSharedHub(options: SharedOptions, io: Io): Promise<FoundHub | undefined> {
  return answerAt(await placeOf({ options, io }), "status");
}

/**
 * Finds a shared hub of the user: the hub of the configuration in force in this folder, or else the only running hub,
 * which serves the connected clients. With `--config`, only that of the named configuration. Rejects with a
 * `UsageError` if several run.
 */
export async function findSharedHub(options: SharedOptions, io: Io): Promise<FoundHub | undefined> {
  const own = await ownSharedHub(options, io);
  if (own || options.config !== undefined) return own;
  const places = await knownPlaces(io.env);
  const found = (await Promise.all(places.map((place) => answerAt(place, "status")))).filter(
    (hub) => hub !== undefined,
  );
  if (found.length <= 1) return found[0];
  const names = found.map(({ answer }) => `${filesText(answer.files)} (process ${answer.pid})`).join("; ");
  throw new UsageError(
    `The configuration in force here has no shared hub, and ${found.length} others run: ${names}. ` +
      "Name the file of one with --config.",
  );
}

/** Asks the hub to stop gracefully. Resolves with its answer; undefined if it has just ended. */
export function stopAt(place: SharedPlace): Promise<RunningHubAnswer | undefined> {
  return askRunning(place, "stop");
}

/** Returns the error of a command that needs a running shared hub. */
export async function noSharedHub(options: SharedOptions, io: Io): Promise<FailError> {
  const { log } = await placeOf({ options, io });
  const whose =
    options.config === undefined ? "No shared hub of yours runs" : "No shared hub of this configuration runs";
  return new FailError(
    fail("unavailable", `${whose}. A client that \`toolyard connect\` has set up starts it. Its log is ${log}.`),
  );
}

export function filesText(files: readonly string[]): string {
  return files.length > 0 ? files.join(", ") : "no configuration file";
}

async function answerAt(place: SharedPlace, command: HubCommand): Promise<FoundHub | undefined> {
  const answer = await askRunning(place, command);
  return answer && { place, answer };
}
