import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

const AS = new Option("--as <caller>", "name of the caller's token, if each caller signs in separately");

/** Returns the commands for sign-ins to remote servers. */
export function signInRows(shared: readonly Option[], timeout: Option): readonly CommandRow[] {
  return [
    {
      usage: "login [source]",
      summary: "sign in to a server on HTTP, in the browser",
      examples: ["toolyard login github", "toolyard login --all", "toolyard login notion --no-browser"],
      options: [
        ...shared,
        new Option("--all", "every server that requires it, in sequence"),
        new Option("--no-browser", "print the address instead of opening it"),
        new Option("--device", "sign in with a code on another device, if the server supports it"),
        AS,
        timeout,
      ],
      load: () => import("../commands/login.ts"),
    },
    {
      usage: "logout <source>",
      summary: "sign out of a server and revoke its token",
      examples: ["toolyard logout github"],
      options: [...shared, AS],
      load: () => import("../commands/logout.ts"),
    },
    {
      usage: "vault",
      summary: "show stored sign-ins; names, never values",
      examples: ["toolyard vault list", "toolyard vault rm github"],
      options: [],
      commands: [
        {
          usage: "list",
          summary: "list sign-ins",
          examples: ["toolyard vault list --json"],
          options: shared,
          load: async () => ({ run: (await import("../commands/vault.ts")).list }),
        },
        {
          usage: "rm <source>",
          summary: "delete a sign-in and the registration of the hub at the server",
          examples: ["toolyard vault rm github"],
          options: shared,
          load: async () => ({ run: (await import("../commands/vault.ts")).remove }),
        },
        {
          usage: "export",
          summary: "print all sign-ins as JSON, without their values",
          examples: ["toolyard vault export"],
          options: shared,
          load: async () => ({ run: (await import("../commands/vault.ts")).exportNames }),
        },
      ],
    },
  ];
}
