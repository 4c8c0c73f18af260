import { withoutHidden } from "../core/text/hidden-text.ts";
import type { AgentTexts } from "./texts.ts";
import { cutText } from "./text-size.ts";
import type { Toolset } from "./toolset.ts";
import { firstChars } from "../core/text/truncate.ts";

/** Maximum length of a hint in the prompt, in characters. Hints are untrusted texts. */
const MAX_HINT_CHARS = 1000;
const MAX_HINTS_BYTES = 16 * 1024;
const MAX_SERVER_BYTES = 16 * 1024;

export interface PromptParts {
  readonly instructions?: string;
  /** Instructions of the servers. */
  readonly serverInstructions?: string;
  readonly toolset: Pick<Toolset, "mode" | "hints">;
  readonly texts: AgentTexts;
}

/** Returns the system prompt. Lists each tool's hint in one line. */
export function systemPrompt({ instructions, serverInstructions = "", toolset, texts }: PromptParts): string {
  const hints = toolset.hints.map(
    ([tool, hint]) => `- ${tool}: ${firstChars(withoutHidden(hint).replaceAll(/\s+/g, " ").trim(), MAX_HINT_CHARS)}`,
  );
  return [
    instructions ?? texts.instructions,
    toolset.mode === "discovery" ? texts.discovery : "",
    cutText(withoutHidden(serverInstructions), MAX_SERVER_BYTES),
    hints.length === 0 ? "" : `${texts.hints}\n${cutText(hints.join("\n"), MAX_HINTS_BYTES)}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
