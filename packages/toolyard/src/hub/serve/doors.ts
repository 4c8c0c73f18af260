import type { ObjectOf, Sections } from "../../core/options/option-schema.ts";
import type { DefinedDoor } from "../../endpoints/door.ts";
import { JSON_RPC } from "../../endpoints/jsonrpc/kind.ts";
import { MCP } from "../../endpoints/mcp/kind.ts";
import { REST } from "../../endpoints/rest/kind.ts";
import { SIGN_IN } from "../../endpoints/sign-in/kind.ts";
import { STATUS } from "../../endpoints/status/kind.ts";
import { HEALTH_PATHS } from "../../http/health.ts";
import { HTTP_OPTION_SCHEMAS } from "../../http/options.ts";
import { Type } from "../../core/options/option-schema.ts";
import { joinSections, type All } from "../sections.ts";

/** The one list of doors on HTTP, in the order in which they are opened. A new door is one more entry. */
export const DOOR_KINDS = [MCP, JSON_RPC, REST, STATUS, SIGN_IN] as const;

/** What they all stand on. */
const LISTENER = {
  schema: {
    server: Type.Optional(
      Type.Object(HTTP_OPTION_SCHEMAS, { description: "The doors: where and how the hub is served." }),
    ),
  },
};

/** What is served whatever the configuration says: no path that it adds may be one of them, or below one. */
export const FIXED_PATHS: readonly string[] = [...HEALTH_PATHS, ...DOOR_KINDS.flatMap(({ paths }) => paths)];

type SectionsOf<K> = K extends { readonly schema: infer S } ? ObjectOf<S> : never;

/** The sections of the configuration that doors and their listener read. */
export type DoorsConfig = All<SectionsOf<(typeof DOOR_KINDS)[number] | typeof LISTENER>>;
export type ServerConfig = NonNullable<DoorsConfig["server"]>;

/** Their schemas: sections of one name are joined, member by member. */
export function doorSections(): Sections {
  return joinSections([LISTENER, ...DOOR_KINDS]);
}

/** What opens each door that a configuration asks for. Throws an `OptionError` for what cannot be opened. */
export function wantedDoors(config: DoorsConfig): readonly NonNullable<ReturnType<DefinedDoor<Sections>["wanted"]>>[] {
  return DOOR_KINDS.flatMap((kind) => kind.wanted(config, FIXED_PATHS) ?? []);
}

/** Everything of the configuration that a changed door on HTTP has to be opened anew for. */
export function doorsOf(config: DoorsConfig): string {
  const sections = Object.keys(doorSections()) as (keyof DoorsConfig)[];
  return JSON.stringify(sections.map((name) => config[name] ?? {}));
}
