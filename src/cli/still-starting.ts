import type { Toolyard } from "../hub/toolyard.ts";
import { print, type Io } from "./io.ts";

/** Tells beside an answer which sources it is without, since they are still starting. */
export async function tellStarting(toolyard: Toolyard, io: Io): Promise<void> {
  const starting = toolyard.sources().flatMap(({ source, status }) => (status.state === "starting" ? [source.id] : []));
  if (starting.length > 0)
    await print(
      io.stderr,
      `Still starting, so what they offer is missing here: ${starting.join(", ")}. \`toolyard check\` waits for them.`,
    );
}
