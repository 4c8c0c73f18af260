import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

const STDIN = new Option("--password-stdin", "read the password from standard input instead of generating one");
const GROUPS = new Option("--group <name>", "a group of the user, for roles; repeatable").argParser(
  (value: string, before: readonly string[] | undefined) => [...(before ?? []), value],
);

/**
 * Returns `toolyard user` and `toolyard client`: commands for the users and clients that may sign in to this hub
 * (`auth.modes` with "builtin"). The configuration decides whether they are in a store or in the data folder.
 */
export function userRows(places: readonly Option[]): readonly CommandRow[] {
  return [
    {
      usage: "user",
      summary: "manage the users that sign in to this hub: add, passwd, list, link, remove",
      examples: ["toolyard user add ann --group dev", "toolyard user list"],
      options: [],
      commands: [
        {
          usage: "add <name>",
          summary: "add a user, and print a generated password once",
          examples: ["toolyard user add ann", "toolyard user add ann --group dev --password-stdin < password.txt"],
          options: [GROUPS, STDIN, ...places],
          load: async () => ({ run: (await import("../commands/user.ts")).add }),
        },
        {
          usage: "passwd <name>",
          summary: "change the password of a user",
          examples: ["toolyard user passwd ann"],
          options: [STDIN, ...places],
          load: async () => ({ run: (await import("../commands/user.ts")).passwd }),
        },
        {
          usage: "list",
          summary: "list the users and their groups",
          examples: ["toolyard user list --json"],
          options: places,
          load: async () => ({ run: (await import("../commands/user.ts")).list }),
        },
        {
          usage: "link <name> <provider> <subject>",
          summary: "let a user sign in with an account of an identity provider",
          examples: ["toolyard user link ann work 00u1a2b3c4"],
          options: places,
          load: async () => ({ run: (await import("../commands/user.ts")).link }),
        },
        {
          usage: "remove <name>",
          summary: "remove a user; its access tokens end within a second",
          examples: ["toolyard user remove ann"],
          options: places,
          load: async () => ({ run: (await import("../commands/user.ts")).remove }),
        },
      ],
    },
    clientRow(places),
  ];
}

function clientRow(places: readonly Option[]): CommandRow {
  return {
    usage: "client",
    summary: "manage the programs that have registered at this hub for sign-in: list, remove",
    examples: ["toolyard client list"],
    options: [],
    commands: [
      {
        usage: "list",
        summary: "list the registered clients",
        examples: ["toolyard client list --json"],
        options: places,
        load: async () => ({ run: (await import("../commands/client.ts")).list }),
      },
      {
        usage: "remove <id>",
        summary: "remove a client; its access tokens end within a second",
        examples: ["toolyard client remove 3fD0…"],
        options: places,
        load: async () => ({ run: (await import("../commands/client.ts")).remove }),
      },
    ],
  };
}
