import type { Outcome } from "../../../core/outcome.ts";
import type { ResolvedCall } from "../../../core/provider.ts";
import type { Source } from "../../../core/records.ts";
import { ownToolRecord, type OwnTool } from "../own-tool.ts";
import type { BuiltinPorts, CodeRunner } from "../ports.ts";
import { ACCEPTED_SCHEMA, readArguments, SHOWN_SCHEMA } from "./arguments.ts";
import { codeHost } from "./code-host.ts";
import { codeOutcome } from "./code-result.ts";

const NAME = "execute_code";

const DESCRIPTION =
  "Runs Python, JavaScript or TypeScript in a sandbox without files, network or processes of this machine, and gives its result, output and files. " +
  "Inside, `tools.<source>.<name>({…})` calls any tool (`await` it; Python takes named arguments), and `await search(\"what you need\")` finds tools " +
  "with their signatures. Use it for several calls, for loops, and to keep large results out of the conversation: only what you return comes back.";

/** Time between the end of a run and that of the call around it. */
const SLACK_MS = 5_000;

/** `maxWallMs`: the longest time that a caller may ask for. `execute_code({language, code, inputs?, files?, timeout_ms?, session?})`: native, without keywords (T1). */
export function executeCode(source: Source, ports: BuiltinPorts, code: CodeRunner, maxWallMs: number): OwnTool {
  const record = ownToolRecord(source, {
    name: NAME,
    title: "Execute code",
    description: DESCRIPTION,
    inputSchema: SHOWN_SCHEMA,
    acceptedSchema: ACCEPTED_SCHEMA,
    annotations: { readOnlyHint: false, openWorldHint: true },
    limits: { timeoutMs: maxWallMs + SLACK_MS, totalTimeoutMs: maxWallMs + SLACK_MS },
  });
  return { record, run: (call) => execute(call, ports, code) };
}

async function execute(call: ResolvedCall, ports: BuiltinPorts, { sandbox }: CodeRunner): Promise<Outcome> {
  const given = readArguments(call.arguments);
  if ("ok" in given) return given;
  const { language, code, inputs, files, timeoutMs, session } = given;
  const current = sandbox();
  const { limits } = current.options;
  const wallMs = timeoutMs ?? limits.wallMs;
  const run = await current.run(
    {
      language,
      code,
      inputs,
      files,
      profile: "scripting",
      limits: { ...limits, wallMs },
      // Two callers never meet in one session, whatever they call it.
      ...(session !== undefined && { session: JSON.stringify([call.principal.id, session]) }),
    },
    codeHost(call, language, ports, NAME),
    call.signal,
  );
  return codeOutcome(run);
}
