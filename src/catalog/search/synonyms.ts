import { stem } from "./words.ts";

/** Words that people use for one another when they talk to tools. */
const GROUPS: readonly string[] = [
  "create add new make insert generate register",
  "delete remove drop destroy erase",
  "get fetch retrieve read show view display obtain",
  "list show enumerate browse",
  "update edit modify change set patch alter rename",
  "search find query lookup discover",
  "send post deliver dispatch",
  "run execute launch start invoke trigger",
  "stop cancel abort terminate kill",
  "write save store put",
  "download fetch pull",
  "upload push put",
  "compute calculate evaluate math",
  "convert transform translate",
  "email mail inbox",
  "message msg chat text",
  "file document doc",
  "folder directory dir",
  "repository repo",
  "database db",
  "image picture photo",
  "video movie film clip",
  "weather forecast temperature climate",
  "stock share ticker equity",
  "user account member person people",
  "issue ticket bug",
  "webpage website page site url link",
  "song track music",
  "calendar schedule event meeting appointment",
  "price cost quote rate",
  "location place address geocode",
  "summary summarize overview abstract",
  "compare diff difference",
  "config configuration setting",
  "information info detail",
  "statistic stat metric",
];

const table = new Map<string, Set<string>>();
for (const group of GROUPS) {
  const stems = group.split(" ").map(stem);
  for (const one of stems) {
    const others = table.get(one) ?? new Set();
    for (const other of stems) if (other !== one) others.add(other);
    table.set(one, others);
  }
}

/** Stems that may stand for this one. */
export function synonymsOf(word: string): ReadonlySet<string> {
  return table.get(word) ?? NONE;
}

const NONE: ReadonlySet<string> = new Set();
