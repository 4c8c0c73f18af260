import type { ModuleHub } from "toolyard";

type Case = "upper" | "lower" | "title";

/**
 * A module is a file `mcp.ts` that registers functions; arguments are checked against the schema before they arrive.
 */
export function registerTools(hub: ModuleHub): void {
  hub.registerTool(
    "text.change_case",
    ({ text, to }: { text: string; to: Case }) => changeCase(text, to),
    {
      type: "object",
      properties: {
        text: { type: "string", description: "The text to change" },
        to: { type: "string", enum: ["upper", "lower", "title"], default: "title", description: "How to write it" },
      },
      required: ["text"],
    },
    "Writes a text in upper, lower or title case",
  );

  hub.registerTool(
    "text.statistics",
    ({ text }: { text: string }) => ({
      characters: [...text].length,
      words: text.split(/\s+/).filter(Boolean).length,
      lines: text.split("\n").length,
    }),
    {
      type: "object",
      properties: { text: { type: "string", description: "The text to measure" } },
      required: ["text"],
    },
    "Counts the characters, words and lines of a text",
    { annotations: { readOnlyHint: true, idempotentHint: true }, keywords: ["count", "length"] },
  );

  hub.registerResource(
    "text://alphabet/{language}",
    (_uri, { language }) => ALPHABETS[language ?? ""] ?? `no alphabet for ${language}`,
    "The alphabet of a language",
  );
}

const ALPHABETS: Record<string, string> = {
  english: "abcdefghijklmnopqrstuvwxyz",
  greek: "αβγδεζηθικλμνξοπρστυφχψω",
};

function changeCase(text: string, to: Case): string {
  if (to === "upper") return text.toUpperCase();
  if (to === "lower") return text.toLowerCase();
  return text.replace(/\p{L}+/gu, (word) => word[0]!.toUpperCase() + word.slice(1).toLowerCase());
}
