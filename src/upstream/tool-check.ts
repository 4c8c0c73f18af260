import { stringifyExact } from "../core/exact-json.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { EraName } from "./era.ts";

export interface CheckedTool {
  /** The definition as it may be offered; absent when it cannot be. */
  readonly tool?: JsonObject;
  readonly problems: readonly string[];
}

/**
 * Looks at one tool of a server's list. One that would make strict clients refuse the whole list is mended where its
 * meaning is clear and left out where it is not; everything else stays as it came.
 */
export function checkTool(tool: JsonObject, era: EraName): CheckedTool {
  const { inputSchema } = tool;
  const problems: string[] = [];
  let checked = tool;
  if (inputSchema === undefined) {
    problems.push("It has no `inputSchema`; any object is taken.");
    checked = { ...checked, inputSchema: { type: "object" } };
  } else if (!isJsonObject(inputSchema)) {
    return { problems: ["Its `inputSchema` is not an object; it was left out."] };
  } else if (!allowsObject(inputSchema["type"])) {
    return {
      problems: [
        `Its \`inputSchema\` is of type ${stringifyExact(inputSchema["type"])?.slice(0, 100)} and not an ` +
          "object; it was left out.",
      ],
    };
  }
  const outputProblem = findOutputProblem(tool["outputSchema"], era);
  if (outputProblem !== undefined) {
    problems.push(outputProblem);
    const { outputSchema: _dropped, ...rest } = checked;
    checked = rest;
  }
  return { tool: checked, problems };
}

// A `type` that is itself an object is a property of that name, in a bare map of properties.
function allowsObject(type: unknown): boolean {
  if (Array.isArray(type)) return type.includes("object");
  return typeof type !== "string" || type === "object";
}

function findOutputProblem(outputSchema: unknown, era: EraName): string | undefined {
  if (outputSchema === undefined) return undefined;
  if (!isJsonObject(outputSchema)) return "Its `outputSchema` is not an object; the tool is offered without it.";
  // Legacy revisions know structured content only as an object, and their clients refuse a list that says otherwise.
  if (era === "legacy" && outputSchema["type"] !== "object")
    return "Its `outputSchema` is not of type object; the tool is offered without it.";
  return undefined;
}
