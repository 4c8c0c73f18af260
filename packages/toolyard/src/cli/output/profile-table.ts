import type { ProfileCounts } from "../../core/ports/profile-counts.ts";
import type { Io } from "./io.ts";
import { table } from "./table.ts";

/** Returns a table of profiles, with the number of their tools, prompts and resources. */
export function profileText(profiles: readonly ProfileCounts[], io: Io): string {
  const rows = profiles.map(({ name, tools, prompts, resources }) => [
    name,
    ...[tools, prompts, resources].map(String),
  ]);
  return table(["profile", "tools", "prompts", "resources"], rows, io);
}
