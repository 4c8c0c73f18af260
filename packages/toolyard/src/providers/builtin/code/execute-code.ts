import type { Source } from "../../../core/sources/records.ts";
import type { FixedTool } from "../../fixed-tools.ts";
import { ownToolRecord } from "../own-tool.ts";
import type { CodePorts } from "../ports.ts";
import { ACCEPTED_SCHEMA, SHOWN_SCHEMA } from "./schema.ts";

const NAME = "execute_code";

const DESCRIPTION =
  "Runs Python, JavaScript or TypeScript code and returns its result, output and files. The code " +
  "runs in a sandbox without access to files, network or processes of this machine. In the code, " +
  "`tools.<source>.<name>({…})` calls any tool (`await` it; Python takes named arguments), and " +
  '`await search("what you need")` finds tools with their signatures. Use it for several calls, for ' +
  "loops, and to keep large results out of the conversation: only what you return comes back.";

/** Time in milliseconds that the call may last longer than its run. */
const SLACK_MS = 5_000;

/**
 * Creates `execute_code({language, code, inputs?, files?, timeout_ms?, session?})`: native, without keywords (T1).
 * `maxWallMs`: the maximum time that a caller may request.
 */
export function executeCode(source: Source, ports: CodePorts, maxWallMs: number): FixedTool {
  const record = ownToolRecord(source, {
    name: NAME,
    title: "Execute code",
    description: DESCRIPTION,
    inputSchema: SHOWN_SCHEMA,
    acceptedSchema: ACCEPTED_SCHEMA,
    annotations: { readOnlyHint: false, openWorldHint: true },
    searchHint: "run JavaScript or Python that calls tools",
    limits: { timeoutMs: maxWallMs + SLACK_MS, totalTimeoutMs: maxWallMs + SLACK_MS },
  });
  // The code of this tool is loaded by its first call.
  return { record, run: async (call) => (await import("./run-code.ts")).runCode(call, NAME, ports) };
}
