/**
 * The tools that come with the package, in the order in which they are listed. A new one is one more name; the compiler
 * asks for the rest.
 */
export const DEFAULT_TOOL_NAMES = [
  "file_writer",
  "generate_image_from_prompt",
  "internet_search",
  "python_interpreter",
] as const;
export type DefaultToolName = (typeof DEFAULT_TOOL_NAMES)[number];
