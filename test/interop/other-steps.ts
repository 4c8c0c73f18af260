import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Step } from "./transcript.ts";

const LISTS: readonly Step[] = ["tools/list", "ping"].map((method) => ({ title: method, method }));
const call = (name: string, args: JsonObject = {}, more: Partial<Step> = {}): Step => ({
  title: `${name} ${JSON.stringify(args).slice(0, 80)}`,
  method: "tools/call",
  params: { name, arguments: args },
  ...more,
});

/** `folder` holds `a.txt`, `b/c.md` and `pixel.png`. */
export function filesystemSteps(folder: string): readonly Step[] {
  const at = (path: string): string => `${folder}/${path}`;
  return [
    ...LISTS,
    call("list_allowed_directories"),
    call("read_file", { path: at("a.txt") }),
    call("read_text_file", { path: at("a.txt"), head: 1 }),
    call("read_text_file", { path: at("a.txt"), tail: 1 }),
    call("read_text_file", { path: at("a.txt"), head: 1, tail: 1 }),
    call("read_media_file", { path: at("pixel.png") }),
    call("read_multiple_files", { paths: [at("a.txt"), at("b/c.md"), at("missing")] }),
    call("write_file", { path: at("new.txt"), content: "first\nsecond\n" }),
    call("edit_file", { path: at("new.txt"), edits: [{ oldText: "second", newText: "2nd" }], dryRun: true }),
    call("edit_file", { path: at("new.txt"), edits: [{ oldText: "second", newText: "2nd" }] }),
    call("edit_file", { path: at("new.txt"), edits: [{ oldText: "nowhere", newText: "x" }] }),
    call("create_directory", { path: at("made") }),
    call("list_directory", { path: folder }),
    call("list_directory_with_sizes", { path: folder, sortBy: "size" }),
    call("directory_tree", { path: folder }),
    call("move_file", { source: at("new.txt"), destination: at("made/moved.txt") }),
    call("search_files", { path: folder, pattern: "**/*.txt" }),
    call("search_files", { path: folder, pattern: "**/*.txt", excludePatterns: ["made"] }),
    call("get_file_info", { path: at("a.txt") }),
    call("read_text_file", { path: "/etc/hostname" }),
    call("read_text_file", { path: at("missing.txt") }),
    call("read_text_file", {}, { refusal: "arguments" }),
    call("list_directory_with_sizes", { path: folder, sortBy: "colour" }, { refusal: "arguments" }),
    call("no_such_tool", {}, { refusal: "name" }),
    { title: "resources/list, which it does not offer", method: "resources/list", refusal: "list" },
  ];
}

const ada = { name: "Ada", entityType: "person", observations: ["counts"] };
const engine = { name: "Engine", entityType: "machine", observations: [] };

export const MEMORY_STEPS: readonly Step[] = [
  ...LISTS,
  call("read_graph"),
  call("create_entities", { entities: [ada, engine] }),
  call("create_entities", { entities: [ada] }),
  call("create_relations", { relations: [{ from: "Ada", to: "Engine", relationType: "programs" }] }),
  call("add_observations", { observations: [{ entityName: "Ada", contents: ["writes", "counts"] }] }),
  call("add_observations", { observations: [{ entityName: "Nobody", contents: ["x"] }] }),
  call("search_nodes", { query: "writes" }),
  call("open_nodes", { names: ["Ada", "Nobody"] }),
  call("read_graph"),
  call("delete_observations", { deletions: [{ entityName: "Ada", observations: ["writes"] }] }),
  call("delete_relations", { relations: [{ from: "Ada", to: "Engine", relationType: "programs" }] }),
  call("delete_entities", { entityNames: ["Engine"] }),
  call("read_graph"),
  call("create_entities", { entities: "Ada" }, { refusal: "arguments" }),
  call("no_such_tool", {}, { refusal: "name" }),
];

const thought = (n: number, more: JsonObject = {}): JsonObject => ({
  thought: `thought ${n}`,
  thoughtNumber: n,
  totalThoughts: 3,
  nextThoughtNeeded: n < 3,
  ...more,
});

export const THINKING_STEPS: readonly Step[] = [
  ...LISTS,
  call("sequentialthinking", thought(1)),
  call("sequentialthinking", thought(2, { branchFromThought: 1, branchId: "b" })),
  call("sequentialthinking", thought(3, { isRevision: true, revisesThought: 1 })),
  call("sequentialthinking", thought(9)),
  // The server accepts numbers and booleans as text, too; its own schema states that for booleans.
  call("sequentialthinking", { ...thought(4), nextThoughtNeeded: "false" }),
  call("sequentialthinking", { thought: "no numbers" }, { refusal: "arguments" }),
];
