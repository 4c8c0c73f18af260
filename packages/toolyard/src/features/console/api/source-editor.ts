import { AcceptedFiles } from "../../../config/accepted-files.ts";
import type { Acceptance } from "../../../config/edit/keep-accepted.ts";
import { dataFolder } from "../../../core/data-folder.ts";
import { messageOf } from "../../../core/errors.ts";
import type { ConsoleParts } from "../parts.ts";
import type { SourceEditor } from "./edit-sources.ts";

/** Returns the editor of the running configuration. */
export function sourceEditor({
  hubControl,
  variables,
  logger,
}: Pick<ConsoleParts, "hubControl" | "variables" | "logger">): SourceEditor {
  const files = new AcceptedFiles(dataFolder(variables));
  const acceptance: Acceptance = {
    schema: hubControl().schema,
    has: (foreign) => files.has(foreign),
    accept: (foreign) =>
      files.accept(foreign).catch((error: unknown) => {
        logger.warning(`That ${foreign.path} is accepted cannot be noted: ${messageOf(error)}`);
      }),
  };
  return { control: hubControl(), acceptance };
}
