import type { Outcome } from "../../../core/calls/outcome.ts";
import type { ResolvedCall } from "../../../core/sources/provider.ts";
import { holderOf } from "../../../core/fairness/shares.ts";
import type { CodePorts } from "../ports.ts";
import { readArguments } from "./arguments.ts";
import { codeHost } from "./code-host.ts";
import { codeOutcome } from "./code-result.ts";

/** Runs the code in the arguments of a call. `tool`: name of the called tool. */
export async function runCode(call: ResolvedCall, tool: string, ports: CodePorts): Promise<Outcome> {
  const given = readArguments(call.arguments);
  if ("ok" in given) return given;
  const { language, code, inputs, files, timeoutMs, session } = given;
  const current = ports.code.sandbox();
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
      owner: holderOf(call),
      // The key contains the principal, so that two callers never share a session of the same name.
      ...(session !== undefined && { session: JSON.stringify([call.principal.id, session]) }),
    },
    codeHost(call, ports, { language, tool }),
    call.signal,
  );
  return codeOutcome(run);
}
