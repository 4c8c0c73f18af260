import { builtUrl } from "./built.ts";

/** Arguments before the script's name that let a child run the user's TypeScript. */
export function typescriptNodeArgs(): readonly string[] {
  return ["--import", builtUrl("register.js")];
}
