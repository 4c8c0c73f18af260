// Pages of the guide that changed, or have a subject that changed, since the main branch.
import { spawnSync } from "node:child_process";
import { ROOT } from "./snippets.ts";

/** Source paths that each page describes. A changed file selects the page with the longest matching prefix. */
export const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  "docs/guide/access/": ["packages/toolyard/src/signin/", "packages/toolyard/src/endpoints/sign-in/"],
  "docs/guide/clients/": ["packages/toolyard/src/config/connect/"],
  "docs/guide/clients/endpoints.md": ["packages/toolyard/src/endpoints/"],
  "docs/guide/clients/rest.md": ["packages/toolyard/src/endpoints/rest/"],
  "docs/guide/clients/search.md": ["packages/toolyard/src/catalog/search/"],
  "docs/guide/develop/": ["packages/toolyard/src/index.ts"],
  "docs/guide/develop/agent.md": ["packages/toolyard/src/agent/", "packages/toolyard/src/compat/agent/"],
  "docs/guide/develop/bindings.md": ["packages/toolyard/src/compat/bindings/"],
  "docs/guide/develop/client.md": ["packages/toolyard/src/compat/client/"],
  "docs/guide/develop/core-server.md": ["packages/toolyard/src/compat/core/"],
  "docs/guide/develop/folders.md": ["packages/toolyard/src/providers/folders/"],
  "docs/guide/develop/frameworks.md": ["packages/toolyard/src/http/adapters/fetch/"],
  "docs/guide/develop/manager.md": ["packages/toolyard/src/compat/manager/"],
  "docs/guide/develop/modules.md": ["packages/toolyard/src/providers/modules/"],
  "docs/guide/develop/scripts.md": ["packages/toolyard/src/providers/scripts/"],
  "docs/guide/reference/": ["packages/toolyard/src/core/json/"],
  "docs/guide/sources/": ["packages/toolyard/servers/"],
  "docs/guide/sources/code.md": ["packages/toolyard/src/sandbox/"],
  "docs/guide/sources/default-tools.md": ["packages/toolyard/src/providers/defaults/"],
  "docs/guide/sources/documents": ["packages/library/src/"],
  "docs/guide/sources/embeddings.md": ["packages/toolyard/src/embeddings.ts"],
  "docs/guide/sources/gnn": ["packages/gnn/src/"],
  "docs/guide/sources/http-servers.md": ["packages/toolyard/src/providers/http/"],
  "docs/guide/sources/stdio-servers.md": ["packages/toolyard/src/providers/stdio/"],
  "docs/guide/start/": ["packages/toolyard/src/cli/commands/", "packages/toolyard/src/config/"],
  "docs/guide/start/extras.md": ["packages/toolyard/src/extras/"],
  "docs/guide/team/": ["packages/toolyard/src/hub/serve/", "packages/toolyard/src/telemetry/"],
};

/** Pages beyond this number are left to `npm run test:all`. */
export const MAX_PAGES = 8;

export function subjectsOf(page: string): readonly string[] {
  const entries = Object.keys(SUBJECTS).filter((start) => page.startsWith(start));
  return SUBJECTS[entries.toSorted((a, b) => b.length - a.length)[0] ?? ""] ?? [];
}

/** Returns the pages to run for these changed files: first those with a changed text. At most `MAX_PAGES`. */
export function pagesFor(changed: readonly string[], pages: readonly string[]): readonly string[] {
  const files = new Set(changed);
  const own = pages.filter((page) => files.has(page));
  const bySubject = pages.filter((page) =>
    subjectsOf(page).some((subject) => changed.some((file) => file.startsWith(subject))),
  );
  return Array.from(new Set([...own, ...bySubject])).slice(0, MAX_PAGES);
}

/** Files that differ from the main branch, or on it from the commit before. Empty without git. */
export function changedFiles(): readonly string[] {
  const base = ["origin/HEAD", "origin/main", "main"].map((name) => git("merge-base", "HEAD", name)[0]).find(Boolean);
  const from = base === undefined || base === git("rev-parse", "HEAD")[0] ? "HEAD~1" : base;
  return [...git("diff", "--name-only", from), ...git("ls-files", "--others", "--exclude-standard")];
}

function git(...args: readonly string[]): readonly string[] {
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter((line) => line !== "") : [];
}
